"""Measure the demo again and regenerate the tables and figures: ``make pages``."""

import cover
import digits
import reproduction
import where_page
from blocks import filled
from made import PAGES

if __name__ == "__main__":
    digits.measure()
    cover.draw()
    reproduction.draw()
    where_page.draw()
    for page, makers in PAGES.items():
        page.write_text(filled(page.read_text(), makers))

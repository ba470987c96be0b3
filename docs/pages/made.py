"""The pages with generated parts, and what generates each part."""

from pathlib import Path

import claims
import digits
import facts
import ratios
import reproduction
import starts
import times
import where_page

ROOT = Path(__file__).parents[2]

PAGES = {
    ROOT / "README.md": {
        "digits": digits.snippet,
        "comparison": ratios.summary,
        "where": where_page.summary,
    },
    ROOT / "benchmarks" / "README.md": ratios.MAKERS,
    ROOT / "docs" / "index.md": {"digits": digits.snippet},
    ROOT / "docs" / "choosing.md": {"gain": facts.gain},
    ROOT / "docs" / "comparison.md": {"comparison": ratios.comparison},
    ROOT / "docs" / "learning.md": {"tasks": digits.table, "criteria": facts.criteria},
    ROOT / "docs" / "performance.md": {"capped": facts.capped},
    ROOT / "docs" / "scale.md": {
        "sizes": ratios.sizes,
        "growth": ratios.growth,
        "million": facts.million,
    },
    ROOT / "docs" / "times.md": times.MAKERS,
    ROOT / "docs" / "reproduction.md": {
        **reproduction.MAKERS,
        **starts.MAKERS,
        "claims": claims.table,
    },
    **where_page.PAGES,
}

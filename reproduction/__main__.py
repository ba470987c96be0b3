"""Run the paper's experiments, or draw its figures: ``python reproduction --help``."""

import sys

from paper.command import main

if __name__ == "__main__":
    sys.exit(main())

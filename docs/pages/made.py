"""The pages that have parts made of results, and what makes each part."""

from pathlib import Path

import ratios
import reproduction

ROOT = Path(__file__).parents[2]

PAGES = {
    ROOT / "README.md": {"comparison": ratios.comparison},
    ROOT / "benchmarks" / "README.md": ratios.MAKERS,
    ROOT / "docs" / "reproduction.md": reproduction.MAKERS,
}

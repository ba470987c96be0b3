"""Parts of pages that are made of committed results.

Such a part stands between two comments, ``<!-- made: name -->`` and ``<!-- end -->``.
"""

import re
from collections.abc import Callable, Mapping

BLOCK = re.compile(r"(<!-- made: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def filled(page: str, makers: Mapping[str, Callable[[], str]]) -> str:
    """Make all parts of a page again; each maker must have its place."""
    names = [match.group(2) for match in BLOCK.finditer(page)]
    if sorted(names) != sorted(makers):
        raise ValueError(f"The page has parts {names}; made are {list(makers)}.")
    return BLOCK.sub(
        lambda match: f"{match[1]}\n{makers[match[2]]()}\n\n{match[4]}", page
    )

"""Parts of pages that are generated from committed results.

A generated part stands between the comments ``<!-- made: name -->`` and
``<!-- end -->``.
"""

import re
from collections.abc import Callable, Mapping

BLOCK = re.compile(r"(<!-- made: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def filled(page: str, makers: Mapping[str, Callable[[], str]]) -> str:
    """Regenerate all parts of a page; there is one maker for each."""
    names = [match.group(2) for match in BLOCK.finditer(page)]
    if sorted(names) != sorted(makers):
        raise ValueError(
            f"The page has parts {names}, but there are makers for {list(makers)}."
        )
    return BLOCK.sub(
        lambda match: f"{match[1]}\n{makers[match[2]]()}\n\n{match[4]}", page
    )

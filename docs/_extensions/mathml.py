"""Formulas as MathML, which browsers draw by themselves.

Sphinx would load a program from a server, so that pages had no formulas without a
network.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from docutils.nodes import Element
    from sphinx.application import Sphinx

# In a formula on its own, what belongs to these stands below, not beside them.
UNDER = re.compile(r"\\(min|max|sum)_")


def visit_inline(writer: Any, node: Element) -> None:
    """Write a formula in a line of text."""
    writer.body.append(convert(node.astext()))
    raise SkipNode


def visit_block(writer: Any, node: Element) -> None:
    """Write a formula on its own."""
    anchor = f' id="{node["ids"][0]}"' if node["ids"] else ""
    latex = UNDER.sub(r"\\\1\\limits_", node.astext())
    formula = convert(latex, display="block")
    writer.body.append(f'<div class="math"{anchor}>{formula}</div>\n')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}

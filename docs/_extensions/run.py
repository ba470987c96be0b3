"""Code blocks that run when a page is built, and show what they print.

.. code-block:: text

   ```{run}
   print(1 + 1)
   ```

Blocks of a page share their names, from top to bottom. So no number in the text is
older than the code that it comes from.
"""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class Run(SphinxDirective):
    """Show a block of Python, run it, and show its output."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Make one literal block of the code, and one of what it printed."""
        code = "\n".join(self.content)
        names = self.env.temp_data.setdefault("groundmetric_names", {})
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, self.env.docname, "exec"), names)  # noqa: S102 - our own
        shown: list[nodes.Node] = [self._block(code, "python")]
        if printed := out.getvalue().rstrip():
            shown.append(self._block(printed, "text"))
        return shown

    def _block(self, text: str, language: str) -> nodes.literal_block:
        block = nodes.literal_block(text, text, language=language)
        self.set_source_info(block)
        return block


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive with Sphinx."""
    app.add_directive("run", Run)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

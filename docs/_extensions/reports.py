"""Reports inside pages: the report of the demo, and reports that tutorials write.

They are separate files in ``_extra``, which Sphinx copies beside the pages, so they
work without a network, as the pages do.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundmetric.report._demo import write_demo

if TYPE_CHECKING:
    from sphinx.application import Sphinx

EXTRA = Path(__file__).parents[1] / "_extra"
DEMO = EXTRA / "demo.html"
FRAME = """\
.. raw:: html

   <iframe class="report" src="../{name}" title="The report" loading="lazy"></iframe>
"""


def show_report(
    block: object,  # noqa: ARG001 - sphinx-gallery's
    block_vars: dict[str, Any],
    gallery_conf: dict[str, Any],  # noqa: ARG001
) -> str:
    """Show the file that an example calls ``report``, where it was written."""
    names = block_vars["example_globals"]
    written = names.get("report")
    if not isinstance(written, Path) or names.get("__report_shown") == written:
        return ""
    names["__report_shown"] = written
    name = f"{Path(block_vars['src_file']).stem}.html"
    shutil.copyfile(written, EXTRA / name)
    return FRAME.format(name=name)


def write_report_of_demo(_: Sphinx) -> None:
    """Run the demo, once: ``make clean`` removes its report."""
    if not DEMO.exists():
        write_demo(DEMO, n_jobs=-1, progress=False)


def setup(app: Sphinx) -> dict[str, bool]:
    """Run the demo before pages are read."""
    EXTRA.mkdir(exist_ok=True)
    app.connect("builder-inited", write_report_of_demo)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""How Sphinx builds the documentation: ``make docs``, without a network."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

import groundmetric

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
sys.path.append(str(HERE.parent / "reproduction"))  # for figures of results
mpl.use("agg")

project = "groundmetric"
author = "The groundmetric developers"
copyright = author  # noqa: A001 - Sphinx's name
version = release = groundmetric.__version__

extensions = [
    "mathml",
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "reports",
    "run",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_extra", "**.ipynb", "**/GALLERY_HEADER.rst"]
nitpicky = True
if find_spec("torch") is None:  # the reference of the layer is left out
    exclude_patterns.append("api/layer.md")
    suppress_warnings = ["toc.excluded", "myst.xref_missing"]
    nitpick_ignore_regex = [("py:.*", r"groundmetric\.torch.*")]
html_theme = "furo"
html_title = f"groundmetric {release}"
html_math_renderer = "mathml"
html_show_copyright = False
html_extra_path = ["_extra"]  # reports
html_static_path = ["_static"]
html_css_files = ["reports.css"]
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Types stand in the text of each parameter, as numpydoc has them.
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "inherited-members": "object,tuple"}
numpydoc_show_class_members = False

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
bibtex_reference_style = "author_year"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

plot_include_source = False
plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("png", 110)]
plot_rcparams = {"savefig.bbox": "tight", "font.size": 9}

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/gallery"],
    "gallery_dirs": ["tutorials", "gallery"],
    "image_scrapers": ("matplotlib", "reports.show_report"),
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": (),  # only what is printed
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("groundmetric",),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
}


# Methods that modules of the package call on each other's classes.
INTERNAL = {"from_core"}


def skip_foreign(*event: Any) -> bool | None:
    """Leave out inherited members, and members that are not for users.

    scikit-learn documents its own methods, with links that would be broken here.
    """
    _, what, name, member, _, _ = event
    if what == "class" and name in INTERNAL:
        return True
    owner = getattr(member, "__module__", None) or "groundmetric"
    inherited = getattr(member, "__objclass__", None) is BaseException
    return None if owner.startswith("groundmetric") and not inherited else True


def hide_private(*event: Any) -> tuple[str, str | None] | None:
    """Leave private fields of results, and how defaults are made, out of signatures."""
    _, what, _, _, _, signature, returned = event
    if what != "class" or not signature:
        return None
    public = re.sub(r", _\w+", "", signature)
    return public.replace("<factory>", "..."), returned


def setup(app: Sphinx) -> None:
    """Tell Sphinx what to leave out."""
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("autodoc-process-signature", hide_private)

"""How Sphinx builds the site: `make docs`. Nothing is asked of the network."""

from __future__ import annotations

import re
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1])]

import catalogue  # noqa: E402
import pictures  # noqa: E402

from budgetbench.learners import learners  # noqa: E402
from budgetbench.plots import figures  # noqa: E402
from budgetbench.plots.style import styled  # noqa: E402
from budgetbench.version import __version__  # noqa: E402

project, author, release = "budgetbench", "The budgetbench developers", __version__
copyright = author
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["reference/rule.md"]
myst_heading_anchors = 3
# Of pages that are included: links that hold in the repository, to what is no page of the site.
suppress_warnings = ["myst.xref_missing"]
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
nitpicky = False

numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
autodoc_typehints = "none"
autodoc_default_options = {"members": True, "member-order": "bysource"}
autosummary_generate = True

html_theme = "furo"
html_title = f"budgetbench {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
smartquotes = False  # a double dash begins an option
pygments_style, pygments_dark_style = "friendly", "monokai"

#: Made at the start of every build.
MADE = HERE / "reference"


def make(app: Any) -> None:
    """Write the pages and pictures that are made of the registries."""
    shutil.rmtree(MADE, ignore_errors=True)
    for name, text in catalogue.pages().items():
        path = MADE / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    drawn = MADE / "pictures"
    drawn.mkdir()
    for name in learners.registered:
        with styled(), warnings.catch_warnings():
            pictures.picture(name).savefig(drawn / f"{name}.png", dpi=160)
    for name in figures.registered:
        found = catalogue.example(name)
        if found:
            shutil.copy(found, drawn / f"{name}.png")


def plain(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """What means something to reStructuredText and is none of it in our docstrings: |S|, f_t."""
    lines[:] = [re.sub(r"(?<!`)\|", r"\\|", line) for line in lines]


def setup(app: Any) -> None:
    app.connect("builder-inited", make, priority=1)
    app.connect("autodoc-process-docstring", plain, priority=1)

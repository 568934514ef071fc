"""Sphinx settings: what can be read from the package is read from it."""

import re
import sys
from pathlib import Path

import conicnmf

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
sys.path.append(str(Path(__file__).parents[1]))  # the experiments are no part of the package
from gallery import GALLERY
from public_names import groups

project = "conicnmf"
version = release = conicnmf.__version__
author = copyright = "the conicnmf developers"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "example_output",
    "layers",
    "mathml",
    "shapes",
    "solver_table",
    "status_table",
    "verdict_table",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"conicnmf {release}"
html_math_renderer = "mathml"

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

sphinx_gallery_conf = GALLERY

default_role = "code"

autosummary_generate = True
autosummary_context = {"groups": groups()}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False


def _point_at_page(app, pagename, templatename, context, doctree):
    """Mend links from source pages: Sphinx takes all names of a file for those of one module."""
    if pagename.startswith("_modules/"):
        link = re.compile(r"(generated/([\w.]+\.(\w+))\.html)#[\w.]*?\b\3\b")
        context["body"] = link.sub(r"\1#\2", context["body"])


def _without_path(app, docname, source):
    """Leave out where an example saved its picture: the page shows it."""
    if docname.startswith("gallery/"):
        source[0] = re.sub(r"^ +picture: .*\n", "", source[0], flags=re.MULTILINE)


def setup(app):
    app.connect("source-read", _without_path)
    app.connect("html-page-context", _point_at_page)
    # scikit-learn's own pages explain these; their docstrings point at labels that are not here.
    app.connect(
        "autodoc-skip-member",
        lambda app, what, name, thing, skip, options: skip or name.endswith("_request"),
    )

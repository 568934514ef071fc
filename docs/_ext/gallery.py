"""How the scripts of examples/ become pages: each is told where to save its picture."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from sphinx_gallery.scrapers import figure_rst

_PICTURE = Path(tempfile.mkdtemp()) / "picture.png"


def arguments(gallery_conf: dict[str, Any], script_vars: dict[str, Any]) -> list[str]:
    """Return the command line of an example: the path of its picture."""
    return [str(_PICTURE)]


def saved_picture(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the picture that the example saved, if it has run."""
    plt.close("all")  # one example after the other: many open figures are warned of
    if not _PICTURE.exists():
        return ""
    target = next(block_vars["image_path_iterator"])
    shutil.move(_PICTURE, target)
    return str(figure_rst([target], gallery_conf["src_dir"]))


LEADING = (
    "sparse_digits",
    "missing_entries",
    "unmixing_scene",
    "piano_notes",
    "topics",
    "consensus_genes",
    "ratings",
    "sparseness_path",
    "projected_parts",
    "robust_loss",
    "coupled_views",
)
"""The examples whose pictures come first; the others follow by name, your own terms at the end."""


class Order:
    """Sort the examples of the gallery."""

    def __init__(self, src_dir: str) -> None:
        self.src_dir = src_dir

    def __call__(self, filename: str) -> tuple[int, bool, str]:
        name = Path(filename).stem
        place = LEADING.index(name) if name in LEADING else len(LEADING)
        return place, name.startswith("custom_"), name


GALLERY = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "gallery.Order",
    "filename_pattern": r"\.py$",
    "reset_argv": "gallery.arguments",
    "image_scrapers": ("gallery.saved_picture",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 3600,
    "remove_config_comments": True,
}

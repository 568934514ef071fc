"""How the scripts of examples/ become pages: each is told where to save its picture."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

_PICTURE = Path(tempfile.mkdtemp()) / "picture.png"


def arguments(gallery_conf: dict[str, Any], script_vars: dict[str, Any]) -> list[str]:
    """Return the command line of an example: the path of its picture."""
    return [str(_PICTURE)]


def saved_picture(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the picture that the example saved, if it has run."""
    if not _PICTURE.exists():
        return ""
    target = next(block_vars["image_path_iterator"])
    shutil.move(_PICTURE, target)
    return str(figure_rst([target], gallery_conf["src_dir"]))


GALLERY = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "reset_argv": "gallery.arguments",
    "image_scrapers": ("gallery.saved_picture",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
}

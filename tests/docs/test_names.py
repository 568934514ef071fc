"""Names on the pages exist, and the API page lists every public module."""

from __future__ import annotations

import re
import types
from importlib import import_module
from pathlib import Path

import pytest

import conicnmf as cn

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "fields").glob("*.md")),
]
LISTED = re.findall(
    r"^   ((?:conicnmf|experiments)[\w.]*)$", (ROOT / "docs/api.md").read_text(), re.M
)


@pytest.mark.parametrize("name", LISTED)
def test_modules_on_the_api_page_are_there_with_all_their_names(name: str) -> None:
    module = import_module(name)
    for public in getattr(module, "__all__", []):
        assert hasattr(module, public), f"{name}.{public}"


def test_the_api_page_lists_every_public_module() -> None:
    assert len(LISTED) > 5
    public = {name: getattr(cn, name) for name in cn.__all__}
    modules = {thing.__name__ for thing in public.values() if isinstance(thing, types.ModuleType)}
    assert modules <= set(LISTED)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_on_a_page_are_there(page: Path) -> None:
    for name in sorted(set(re.findall(r"\bcn\.(\w+(?:\.\w+)*)", page.read_text()))):
        thing: object = cn
        for part in name.split("."):
            assert hasattr(thing, part), f"cn.{name}"
            thing = getattr(thing, part)
            if not isinstance(thing, types.ModuleType):
                break  # the rest may be made by a call
    for name in sorted(set(re.findall(r"\bfrom (conicnmf[\w.]*) import", page.read_text()))):
        import_module(name)

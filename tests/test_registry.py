"""What is known by name: near names, taken names, order, case, and what other packages bring."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from conicnmf import registry
from conicnmf.errors import InputError
from conicnmf.registry import Registry

GROUP = "example.colors"


@pytest.fixture
def colors():
    """Two colors, and no package that brings more."""
    known = Registry("color", GROUP)
    known.add("Red", "#f00")
    known.add("SeaGreen", "#2e8b57")
    return known


@pytest.fixture
def installed(monkeypatch):
    """Return a function that pretends packages with these entry points are installed."""

    def pretend(**named):
        entries = [EntryPoint(name, value, GROUP) for name, value in named.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: entries)

    return pretend


def only_text(thing):
    return "" if isinstance(thing, str) else f"it is no text but {thing!r}"


def test_names_are_found_in_any_case_and_with_any_separator(colors):
    for spelling in ("SeaGreen", "seagreen", "SEAGREEN", "sea_green", "sea-green", "Sea Green"):
        assert colors.find(spelling) == "#2e8b57"
        assert spelling in colors
    assert "Blue" not in colors


def test_an_unknown_name_is_answered_with_the_nearest_and_with_all(colors):
    with pytest.raises(InputError, match="no color is called 'sea_gren'; did you mean SeaGreen"):
        colors.find("sea_gren")
    with pytest.raises(InputError, match=r"no color is called 'xyz'; Choose one of Red, SeaGreen$"):
        colors.find("xyz")
    with pytest.raises(InputError, match="the name of a color is a string, got 3"):
        colors.find(3)


def test_a_taken_name_is_refused_in_any_case_and_the_same_thing_again_is_not(colors):
    colors.add("red", "#f00")
    assert colors.names() == ["Red", "SeaGreen"]
    with pytest.raises(InputError, match="a color called 'SeaGreen' exists already"):
        colors.add("sea_green", "#000")
    assert colors.find("SeaGreen") == "#2e8b57"


def test_things_keep_the_order_in_which_they_were_added(colors, installed):
    installed(Zinc="string:digits", Amber="string:hexdigits")
    assert colors.names() == ["Red", "SeaGreen", "Amber", "Zinc"]  # plugins last, by name
    assert list(colors) == ["#f00", "#2e8b57", "0123456789abcdefABCDEF", "0123456789"]


def test_a_plugin_that_fails_is_left_out_and_told_once(installed):
    colors = Registry("color", GROUP, only_text)
    colors.add("Red", "#f00")
    installed(Gone="no_such_module:color", Number="math:pi", Fine="string:digits")
    with pytest.warns(RuntimeWarning) as told:
        assert colors.names() == ["Red", "Fine"]
    first, second = (str(warning.message) for warning in told)
    assert "the color 'Gone' of 'no_such_module:color' was left out: No module" in first
    assert "update or uninstall the package" in first
    assert "it is no text but 3.14" in second
    assert colors.names() == ["Red", "Fine"]  # silent: warnings are errors in these tests


def test_a_plugin_cannot_take_our_names(colors, installed):
    installed(red="string:digits")
    with pytest.warns(RuntimeWarning, match="a color called 'Red' exists already"):
        assert colors.find("red") == "#f00"


def test_a_plugin_gives_way_to_a_name_of_ours_that_comes_later(colors, installed):
    installed(Gold="string:digits")
    assert colors.find("gold") == "0123456789"
    with pytest.warns(RuntimeWarning, match="the color 'Gold' of 'string:digits' was left out"):
        colors.add("Gold", "#ffd700")
    assert colors.find("gold") == "#ffd700"


def test_a_plugin_may_look_names_up_while_it_is_loaded(colors, tmp_path, monkeypatch, installed):
    (tmp_path / "looks_up.py").write_text(
        "import known_colors\ncolor = known_colors.all.find('red')"
    )
    (tmp_path / "known_colors.py").write_text("all = None")
    monkeypatch.syspath_prepend(tmp_path)
    import known_colors

    known_colors.all = colors
    installed(Again="looks_up:color")
    assert colors.find("again") == "#f00"


def test_solvers_of_every_family_are_known_in_a_new_process():
    statement = "cn.factorize([[1.0, 2.0]], 1, H=[cn.NonNegative(), cn.NonZeros(0.1)])"
    lines = f"import conicnmf as cn; print({statement}.explain())"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True)
    assert "KSVD is picked" in done.stdout, done.stderr

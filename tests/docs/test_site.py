"""The check of built pages finds what is wrong: links, places, console errors, widths, pictures."""

import runpy
from pathlib import Path

import pytest

CHECK = runpy.run_path(str(Path(__file__).parents[2] / "docs/_ext/check_site.py"))

GOOD = """<!DOCTYPE html><html><body><h1 id="here">Good</h1>
<a href="other.html#there">other</a> <a href="https://example.org/nothing">outside</a>
</body></html>"""
OTHER = '<!DOCTYPE html><html><body><p id="there"><a href="index.html#here">x</a></p></body></html>'
BAD = """<!DOCTYPE html><html><body><a href="missing.html">1</a> <a href="index.html#nowhere">2</a>
<div style="width:700px">wide</div><img src="missing.png"><script>nothing();</script></body></html>"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "other.html").write_text(OTHER)
    return tmp_path


def test_links_that_lead_nowhere_are_found(site):
    assert list(CHECK["broken_links"](site)) == []
    (site / "bad.html").write_text(BAD)
    assert sorted(CHECK["broken_links"](site)) == [
        "bad.html: index.html#nowhere names no place on that page",
        "bad.html: missing.html does not exist",
        "bad.html: missing.png does not exist",
    ]


@pytest.mark.skipif(CHECK["browser"]() is None, reason="no chromium or google-chrome on the path")
def test_a_browser_finds_errors_and_what_does_not_fit(site):
    assert list(CHECK["complaints"](site, [site / "index.html"], "light")) == []
    (site / "bad.html").write_text(BAD)
    said = "\n".join(CHECK["complaints"](site, [site / "bad.html"], "dark"))
    assert "nothing is not defined" in said
    assert "bad.html, 400 px, dark: wider than the page" in said
    assert "bad.html, 1400 px, dark: wider" not in said
    assert "broken picture" in said

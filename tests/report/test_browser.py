"""Reports in a real browser: on a phone, by day and by night, with nothing loaded or amiss."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from fakes import make_comparison, make_result
from matplotlib.image import imread

import conicnmf as cn
from conicnmf.report import html_report
from conicnmf.study.certificate import Certificate, Check

BROWSER = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium or google-chrome on the path")

WIDTH, HEIGHT = 390, 844
SCHEMES = {"dark": 0, "light": 1}

# Pages allow no scripts, so another page looks at them through frames of a phone's size.
_WATCHER = """<!DOCTYPE html><title>watcher</title><body style="margin:0">
%s<pre id="seen"></pre><script>
const frames = [...document.querySelectorAll("iframe")];
function look(frame) {
  const page = frame.contentDocument, style = frame.contentWindow.getComputedStyle(page.body);
  return {
    width: page.documentElement.scrollWidth, room: page.documentElement.clientWidth,
    images: [...page.images].map(image => [image.complete, image.naturalWidth]),
    sections: [...page.querySelectorAll("h2")].map(head => head.textContent),
    text: page.body.innerText, ground: style.backgroundColor, ink: style.color,
    letters: parseFloat(style.fontSize),
    wide: [...page.querySelectorAll("body *")].filter(part => !part.closest(".scroll, img")
      && part.getBoundingClientRect().right > page.documentElement.clientWidth + 1).length,
  };
}
window.onload = () => {
  document.getElementById("seen").textContent = JSON.stringify(frames.map(look));
};
</script></body>"""


def visit(folder, pages, scheme="light", picture=None):
    """Return what the browser sees of each page, and what it complains about."""
    frame = f'<iframe src="%s" style="width:{WIDTH}px;height:{HEIGHT}px;border:0"></iframe>'
    watcher = folder / "watcher.html"
    watcher.write_text(_WATCHER % "".join(frame % page for page in pages), encoding="utf-8")
    what = "--dump-dom" if picture is None else f"--screenshot={picture}"
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--allow-file-access-from-files",
        "--enable-logging=stderr",
        f"--user-data-dir={folder / 'profile'}",
        f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
        f"--window-size={WIDTH},{HEIGHT}",
        "--virtual-time-budget=10000",
        what,
        watcher.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    if picture is not None:
        return complaints
    (seen,) = re.findall(r'<pre id="seen">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    return json.loads(html.unescape(seen)), complaints


def luminance(color):
    red, green, blue = (int(part) / 255 for part in re.findall(r"\d+", color)[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Pages on a result, on one without H, and on a comparison with long names."""
    place = tmp_path_factory.mktemp("pages")
    result = make_result(
        [8.0, 4.0, 2.0], violations=[0.3, 0.1, 0.0], solver="HALS(" + 9 * "a=1, " + ")"
    )
    checks = Certificate(
        (Check("feasible, W", 0.0, 1e-6), Check("stationary", 0.5, 1e-2, "a note"))
    )
    html_report(result, place / "result.html", image_shape=(3, 4), certificate=checks)
    layers = {"encoder": np.random.default_rng(0).normal(size=(5, 40))}
    html_report(cn.Result(**{**vars(result), "factors": layers}), place / "other.html")
    runs = {
        (problem, solver, seed): make_result([8.0, 3.0 + seed, 2.0 + seed / 9], solver=solver)
        for problem in ("plain", "each_of_the_columns_of_W_at_least_so_sparse_and_no_more")
        for solver in ("HALS", "SparsityMaximization(engine='conic', max_rounds=100)", "ANLS")
        for seed in range(3)
    }
    skipped = [("plain", "Multiplicative", "W must be constrained by NonNegative alone")]
    html_report(make_comparison(runs, skipped), place / "comparison.html", title="Solvers compared")
    return place


PAGES = ("result.html", "other.html", "comparison.html")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_pages_are_whole_and_readable(folder, scheme):
    seen, complaints = visit(folder, PAGES, scheme)
    assert complaints == []
    assert len(seen) == 3
    for page in seen:
        assert page["width"] <= page["room"] <= WIDTH
        assert page["wide"] == 0
        assert page["images"]
        assert all(complete and width > 0 for complete, width in page["images"])
        assert page["letters"] >= 16
        ground, ink = luminance(page["ground"]), luminance(page["ink"])
        assert abs(ground - ink) > 0.6
        assert (ground < ink) == (scheme == "dark")
    result, other, comparison = seen
    assert {"Basis", "Convergence", "Sparseness", "Certificate", "Environment"} <= set(
        result["sections"]
    )
    assert "NOT CERTIFIED" in result["text"]
    assert "stationary: a note" in result["text"]
    assert "Basis" in other["sections"]
    assert {"Summary", "Bases", "Performance", "Significance"} <= set(comparison["sections"])
    assert "Multiplicative" in comparison["text"]


def test_screenshots_show_the_page_by_day_and_by_night(folder):
    for scheme, limits in (("light", (0.9, 1.0)), ("dark", (0.0, 0.2))):
        picture = folder / f"{scheme}.png"
        assert visit(folder, ["result.html"], scheme, picture) == []
        pixels = imread(picture)[:HEIGHT, :WIDTH, :3]
        assert pixels.shape[:2] == (HEIGHT, WIDTH)
        assert limits[0] <= np.median(pixels) <= limits[1]
        assert np.ptp(pixels) > 0.6  # something is written on it


def test_the_watcher_would_see_what_is_wrong(folder):
    (folder / "bad.html").write_text(
        "<!DOCTYPE html><h2>Only</h2><img alt=x src='data:image/png;base64,AAAA'>"
        "<p style='width:900px'>wide</p><script>console.error('oh')</script>"
    )
    (page,), complaints = visit(folder, ["bad.html"])
    assert page["sections"] == ["Only"]
    assert page["width"] >= 900
    assert page["wide"]
    assert page["images"] == [[True, 0]]
    assert any("oh" in line for line in complaints)

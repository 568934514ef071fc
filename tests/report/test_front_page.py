"""The demo's page in a real browser: its slider shows one level at a time, and nothing is amiss."""

from __future__ import annotations

import html
import json
import re
import subprocess

import pytest
from test_browser import BROWSER

import conicnmf as cn
from conicnmf.report.front_page import Level, front_page

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium or google-chrome on the path")

_DRIVER = """<!DOCTYPE html><body style="margin:0">
<iframe src="page.html" style="width:400px;height:900px;border:0"></iframe>
<iframe src="page.html" style="width:1400px;height:900px;border:0"></iframe>
<pre id="seen"></pre><script>
function drive(frame) {
  const page = frame.contentDocument, view = frame.contentWindow;
  const shown = () => [0, 1, 2].filter(i =>
    view.getComputedStyle(page.querySelector(".level-" + i)).display != "none");
  const seen = [shown()];
  for (const i of [0, 2]) {
    page.querySelector("label[for=level-" + i + "]").click();
    seen.push(shown());
  }
  const root = page.documentElement;
  return {seen, fits: root.scrollWidth <= root.clientWidth,
    badges: page.querySelectorAll(".badge.good").length};
}
window.onload = () => {
  const frames = [...document.querySelectorAll("iframe")];
  document.getElementById("seen").textContent = JSON.stringify(frames.map(drive));
};
</script></body>"""


def test_the_slider_shows_one_level_at_a_time_on_phones_and_desks(tmp_path):
    V = cn.datasets.load("digits", n_samples=30).V
    plain, nonneg = cn.factorize(V, 3), cn.NonNegative()
    levels = []
    for bound in (0.5, 0.6, 0.7):
        result = cn.factorize(V, 3, W=[nonneg, cn.Sparseness(min=bound)]).solve(seed=0)
        levels.append(Level(bound, result, result.certificate()))
    race = cn.compare(plain, [cn.HALS(), cn.Multiplicative()], range(2), stop=5)
    page = front_page(
        tmp_path / "page.html",
        V[:, :6],
        (8, 8),
        plain.solve(seed=0),
        levels,
        "1 < 2",
        race,
        race,
        None,
    )
    assert page.stat().st_size < 3e6
    assert "http" not in re.sub(r"http-equiv|data:[^\"]*", "", page.read_text(encoding="utf-8"))
    driver = tmp_path / "driver.html"
    driver.write_text(_DRIVER, encoding="utf-8")
    options = "--headless --no-sandbox --disable-gpu --allow-file-access-from-files --dump-dom"
    options += f" --enable-logging=stderr --user-data-dir={tmp_path / 'profile'}"
    call = [BROWSER, *options.split(), "--virtual-time-budget=10000", driver.as_uri()]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in done.stderr
    (seen,) = re.findall(r'<pre id="seen">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    for frame in json.loads(html.unescape(seen)):
        assert frame["seen"] == [[1], [0], [2]]
        assert frame["fits"]
        assert frame["badges"] == sum(level.certificate.ok for level in levels)

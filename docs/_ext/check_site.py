"""Check built pages: `python docs/_ext/check_site.py html` fails on broken links and console errors.

With Chromium on the path, pages are also opened at the width of a phone and of a desk, in light and
dark mode: nothing may be wider than the page, and no script or style may complain.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

WIDTHS, SCHEMES, FRAMES = (400, 1400), {"dark": 0, "light": 1}, 8
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

_WATCHER = """<!DOCTYPE html><title>watcher</title><body>
%s<pre id="seen"></pre><script>
function look(frame) {
  const page = frame.contentDocument, root = page.documentElement;
  const broken = [...page.images].filter(image => !image.complete || !image.naturalWidth);
  const cut = [...page.images].filter(image => !image.closest(".table-wrapper, pre")
    && image.getBoundingClientRect().right > root.clientWidth + 1);
  return {
    page: frame.dataset.page, width: frame.clientWidth, over: root.scrollWidth - root.clientWidth,
    broken: broken.map(image => image.src), cut: cut.map(image => image.src),
  };
}
window.onload = () => {
  const frames = [...document.querySelectorAll("iframe")];
  document.getElementById("seen").textContent = JSON.stringify(frames.map(look));
};
</script></body>"""


class _Page(HTMLParser):
    """The links of a page and the places that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def has(self, fragment: str) -> bool:
        """Return whether a link can point there."""
        return unquote(fragment) in self.places | {"top"}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.places |= {name for name in (found.get("id"), found.get("name")) if name}
        target = found.get("href" if tag in ("a", "link") else "src")
        if target and not urlsplit(target).scheme and not target.startswith("//"):
            self.links.append(target)


def broken_links(site: Path) -> Iterator[str]:
    """Yield every link inside the site whose file or place does not exist."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{path.relative_to(site)}: {link} does not exist"
            elif parts.fragment and target in pages and not pages[target].has(parts.fragment):
                yield f"{path.relative_to(site)}: {link} names no place on that page"


def browser() -> str | None:
    """Return the browser of this machine, or None."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def complaints(site: Path, pages: Sequence[Path], scheme: str) -> Iterator[str]:
    """Yield what is wrong with pages in a browser: console messages, pictures, widths."""
    for first in range(0, len(pages), FRAMES):
        seen, console = _visit(pages[first : first + FRAMES], scheme)
        yield from console
        for look in seen:
            where = f"{Path(look['page']).relative_to(site)}, {look['width']} px, {scheme}"
            if look["over"] > 0:
                yield f"{where}: wider than the page by {look['over']} px"
            for name in ("broken", "cut"):
                yield from (f"{where}: {name} picture {source}" for source in look[name])


def _visit(pages: Sequence[Path], scheme: str) -> tuple[list[dict[str, object]], list[str]]:
    frames = [
        f'<iframe src="{page.as_uri()}" data-page="{page}" style="width:{width}px;height:900px;'
        'border:0"></iframe>'
        for page in pages
        for width in WIDTHS
    ]
    with tempfile.TemporaryDirectory() as folder:
        watcher = Path(folder) / "watcher.html"
        watcher.write_text(_WATCHER % "".join(frames), encoding="utf-8")
        command = [
            str(browser()),
            *("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *("--allow-file-access-from-files", "--enable-logging=stderr"),
            f"--user-data-dir={folder}/profile",
            f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}",
            *("--virtual-time-budget=20000", "--dump-dom", watcher.as_uri()),
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    (seen,) = re.findall(r'<pre id="seen">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(seen)), console


def main(folder: str) -> int:
    """Print what is wrong, and return 1 if anything is."""
    site = Path(folder).resolve()
    wrong = list(broken_links(site))
    if browser() is None:
        print("there is no browser: only links were checked")
    else:
        skipped = ("_modules", "generated", "_static")
        pages = sorted(
            path for path in site.rglob("*.html") if path.relative_to(site).parts[0] not in skipped
        )
        pages += sorted((site / "generated").glob("*.html"))[:: max(1, FRAMES)]
        wrong += [line for scheme in SCHEMES for line in complaints(site, pages, scheme)]
    print("\n".join(wrong) or "no broken link, no console message, nothing wider than its page")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

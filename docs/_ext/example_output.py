"""``{example-output} name``: what a script of the gallery printed, and its picture."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent
from typing import Any, ClassVar

_PRINTED = re.compile(
    r"^ \.\. code-block:: none\n\n(?P<text>(?:    .*\n|\s*\n)+)", flags=re.MULTILINE
)


def printed(page: str) -> str:
    """Return what the script of a gallery page printed, without the path of its picture."""
    found = _PRINTED.search(page)
    text = dedent(found["text"]).strip() if found else ""
    return "\n".join(line for line in text.splitlines() if not line.startswith("picture:"))


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    class ExampleOutput(SphinxDirective):
        """The picture and the output of an example, from the run that made the gallery."""

        required_arguments = 1
        option_spec: ClassVar[dict[str, Any]] = {"alt": str}

        def run(self) -> list[nodes.Node]:
            """Return both, or how to get them where the gallery was not run."""
            (name,) = self.arguments
            gallery = Path(self.env.srcdir) / "gallery"
            page = gallery / f"{name}.rst"
            self.env.note_dependency(str(page))
            picture = f"images/sphx_glr_{name}_001.png"
            text = printed(page.read_text(encoding="utf-8")) if page.exists() else ""
            if not text:
                how = f"python examples/{name}.py"
                return [nodes.paragraph("", "", nodes.literal(how, how))]
            shown: list[nodes.Node] = [nodes.literal_block(text, text, language="none")]
            if (gallery / picture).exists():
                caption = self.options.get("alt", name)
                image = nodes.image(uri=f"/gallery/{picture}", alt=caption)
                shown.insert(0, nodes.figure("", image, nodes.caption("", caption)))
            return shown

    app.add_directive("example-output", ExampleOutput)
    return {"parallel_read_safe": True}

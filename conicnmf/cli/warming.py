"""`warm-up`: compile the kernels now."""

from __future__ import annotations

from typing import Annotated

import typer

from conicnmf.cli import options as o
from conicnmf.cli._app import app, print_json
from conicnmf.families.warm_up import warm_up as compile_all

Processes = Annotated[
    int, typer.Option("--jobs", min=1, help="How many processes compile at once.")
]


@app.command(epilog="Example: conicnmf warm-up")
def warm_up(jobs: Processes = 2, json: o.Json = False) -> None:
    """Compile all numerical kernels now instead of on first use; compiled code is kept on disk."""
    seconds = compile_all(jobs)
    if json:
        print_json({"seconds": seconds})
    else:
        typer.echo(f"kernels are compiled ({seconds:.1f} s)")

"""The program `conicnmf`, or ``python -m conicnmf``: the command line, or what it lacks."""

from __future__ import annotations

import sys

from conicnmf.errors import MissingExtraError, require


def main() -> None:
    """Run the command line; without the packages that it needs, say in one line how to get them."""
    try:
        require("typer", "cli", "the command line needs")
    except MissingExtraError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    from conicnmf.cli import app

    app(prog_name="conicnmf")


if __name__ == "__main__":
    main()

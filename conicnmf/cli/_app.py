"""The application that the commands attach to, and what all of them print with."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from typing import Annotated, Any, Literal, NoReturn

import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text
from typer.core import TyperGroup

from conicnmf.cli.config import check_known, taken_out
from conicnmf.errors import ConicNMFError
from conicnmf.report.tables import Table
from conicnmf.settings.names import meant

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130
_JSON = "conicnmf.json"
_LEVEL: ContextVar[str] = ContextVar("level", default="warning")


class _Group(TyperGroup):
    """A group that ends with one message, not a traceback, when the input is at fault."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take out what accompanies a command: --config, --set and --log-level."""
        ctx.meta[_JSON] = "--json" in args
        try:
            general, rest = taken_out(args)
            _LEVEL.set(general.level)
            command = next((word for word in rest if word in self.commands), None)
            if command is not None:
                options = general.options(command)
                known = [str(one.name) for one in self.commands[command].params]
                check_known(options, known, command)
                ctx.default_map = {command: options}
                ctx.meta[_JSON] |= bool(options.get("json"))
        except (ConicNMFError, OSError) as error:
            _fail(ctx, str(error), BAD_INPUT)
        try:
            return super().parse_args(ctx, rest)
        except Exception as error:
            _tell_as_json(ctx, error)
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run a command; errors that the user can fix are shown in red."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # the reader of the output has seen enough
        except KeyboardInterrupt as error:
            _fail(ctx, "interrupted", INTERRUPTED, error)
        except MemoryError as error:
            remedy = "use fewer samples (--samples) or a lower rank"
            _fail(ctx, f"there is not enough memory; {remedy}", FAILED, error)
        except (ConicNMFError, OSError) as error:
            _fail(ctx, str(error), BAD_INPUT, error)
        except Exception as error:
            # What is wrong with the words themselves is reported by the code that reads them.
            _suggest(error)
            _tell_as_json(ctx, error)
            raise


_OPTIONS = {"rank": "--rank", "stop": "--max-iter", "seed": "--seed", "solver": "--solver"}
"""What arguments of Python are on the command line."""


def _suggest(error: Any) -> None:
    """Add our own name of an option that other packages call otherwise."""
    if hasattr(error, "possibilities"):
        name = error.option_name.lstrip("-").replace("-", "_")
        ours = [_OPTIONS[own] for own in meant(name) if own in _OPTIONS]
        error.possibilities = ours or error.possibilities


def _tell_as_json(ctx: Any, error: Any) -> None:
    """Say as JSON, where that was asked for, what ended a command: its words, or an error of ours."""
    if not ctx.meta.get(_JSON) or isinstance(error, (typer.Exit, typer.Abort)):
        return
    if hasattr(error, "format_message"):
        print_json({"error": error.format_message(), "exit_code": BAD_INPUT})
    else:
        print_json({"error": f"{type(error).__name__}: {error}", "exit_code": FAILED})


def _fail(ctx: Any, message: str, code: int, error: BaseException | None = None) -> NoReturn:
    """End with a message on standard error, and with the same as JSON where that was asked for."""
    complain(message)
    if ctx.meta.get(_JSON):
        print_json({"error": message, "exit_code": code})
    raise typer.Exit(code) from error


app = typer.Typer(
    cls=_Group,
    help="Sparse non-negative matrix factorization: V ≈ W H with constraints on W and H.",
    epilog="Example: conicnmf demo. Exit codes: 0 success, 1 a solve failed, 2 invalid input, "
    "130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"conicnmf {version('conicnmf')}")
        raise typer.Exit


@app.callback()
def _main(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
    _config: Annotated[
        str | None,
        typer.Option("--config", metavar="FILE", help="Options of the command from a TOML file."),
    ] = None,
    _set: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Set one option; it overrides the file."),
    ] = None,
    _log_level: Annotated[
        str,
        typer.Option("--log-level", metavar="LEVEL", help="info (with progress), warning, error."),
    ] = "warning",
) -> None:
    """Hold the options of the program itself; these may stand after a command, too."""


def screen() -> Console:
    """Return the console of standard output, wide where no terminal cuts lines off."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=200)


def wants_progress(quiet: bool) -> bool:
    """Whether to show progress: on a terminal or at level info, unless asked not to."""
    level = _LEVEL.get()
    if quiet or level == "error":
        return False
    return level == "info" or Console(stderr=True).is_terminal


@contextmanager
def working(message: str, shown: bool) -> Iterator[None]:
    """Show that something is being done, on standard error."""
    if shown:
        with Console(stderr=True).status(message):
            yield
    else:
        yield


def complain(message: str, color: str = "red") -> None:
    """Print a message in red on standard error; other colors are no errors, and may be left out."""
    if color != "red" and _LEVEL.get() == "error":
        return
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text(message, style=color))


def show(table: Table, title: str | None = None) -> None:
    """Print a table."""
    rich = RichTable(
        title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 1, 0, 0)
    )
    for i, header in enumerate(table.headers):
        side: Literal["left", "right"] = "right" if header in table.numeric else "left"
        # Names and numbers stay whole; headers of two words and texts may take more lines.
        whole = i == 0 or (side == "right" and " " not in header)
        rich.add_column(header, justify=side, no_wrap=whole)
    for i, row in enumerate(table.rows):
        style = "bold" if i in table.strong else ""
        rich.add_row(*(Text(cell, style=style) for cell in row))
    screen().print(rich)


def print_json(content: Any) -> None:
    """Print JSON, with null for what is no finite number."""
    typer.echo(json.dumps(_plain(content), indent=1))


def _plain(content: Any) -> Any:
    if isinstance(content, dict):
        return {str(key): _plain(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_plain(value) for value in content]
    if isinstance(content, float) and not math.isfinite(content):
        return None
    return content

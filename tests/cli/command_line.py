"""The command line as the tests call it."""

from typer.testing import CliRunner

from conicnmf.cli import app


def run(*arguments, code=0):
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    assert outcome.exit_code == code, outcome.output
    return outcome

"""The commands' frame: the application, its errors and exit codes."""

from __future__ import annotations

import errno
import functools
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from budgetbench.cli import comparing, inspecting, listing, running, sharing, showing, starting, tuning, watching
from budgetbench.cli.output import any_encoding, flush, give_up_output, noticing
from budgetbench.errors import BudgetbenchError, ParameterError
from budgetbench.version import __version__

COMMANDS: dict[str, Callable[..., None]] = {
    "run": running.run,
    "merge": running.merge,
    "tune": tuning.tune,
    "plot": showing.plot,
    "table": showing.table,
    "compare": comparing.compare,
    "bounds": showing.bounds,
    "check": showing.check,
    "report": showing.report,
    "watch": watching.watch,
    "pack": sharing.pack,
    "cite": sharing.cite,
    "fetch": showing.fetch,
    "list": listing.list_,
    "new": starting.new,
    "schema": starting.schema,
    "validate": showing.validate,
    "inspect": inspecting.inspect,
}
DEBUG = "--debug"
INTERRUPTED = 130
ENDED = "interrupted"
KEPT = f"{ENDED}; every finished run is kept, and the same command goes on from there"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"budgetbench {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show the traceback of an error.")] = False,
) -> None:
    """Reproducible benchmarks of kernel learning under a memory budget."""


def application(debug: bool = False) -> typer.Typer:
    """The application with all its commands."""
    app = typer.Typer(
        name="budgetbench",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    for name, command in COMMANDS.items():
        app.command(name)(command if debug else _short(command))
    return app


def _short(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose errors are one short message and an exit code: 1 something failed, 2 the request is wrong."""

    @functools.wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            with noticing():
                command(*args, **kwargs)
            flush()
        except (BudgetbenchError, ParameterError) as error:
            typer.echo(f"budgetbench: {error}", err=True)
            raise typer.Exit(getattr(error, "exit_code", 2)) from None
        except (KeyboardInterrupt, SystemExit) as end:  # by Ctrl-C, or by another signal that asks for it
            typer.echo(f"budgetbench: {KEPT if command is running.run else ENDED}", err=True)
            raise typer.Exit(int(end.code or 0) if isinstance(end, SystemExit) else INTERRUPTED) from None
        except BrokenPipeError:  # as in `budgetbench table | head`
            give_up_output()
            raise typer.Exit(0) from None
        except OSError as error:
            _refused(error)
            raise typer.Exit(1) from None

    return guarded


def _refused(error: OSError) -> None:
    """Say that a file cannot be read or written, or that a disk is full."""
    what = ": ".join(str(part) for part in (error.filename, error.strerror) if part)
    advice = ". Make room and give the same command again: finished runs are kept" * (error.errno in FULL)
    typer.echo(f"budgetbench: {what or error}{advice}", err=True)
    give_up_output()


def main(arguments: list[str] | None = None) -> None:
    """Run one command and exit."""
    arguments = sys.argv[1:] if arguments is None else arguments
    any_encoding()
    # The flag is welcome anywhere on the line, not before the command alone.
    wanted = [argument for argument in arguments if argument != DEBUG]
    try:
        application(debug=DEBUG in arguments)(args=wanted, prog_name="budgetbench")
    except KeyboardInterrupt:  # before a command has begun
        typer.echo(f"budgetbench: {ENDED}", err=True)
        sys.exit(INTERRUPTED)
    except OSError as error:  # of a page of help, which no command prints
        if DEBUG in arguments:
            raise
        _refused(error)
        sys.exit(1)

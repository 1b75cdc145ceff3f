"""What is said, and to whom: text on any terminal or file, notices on standard error, each of them once."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from budgetbench.errors import Notice
from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from rich import console as consoles
else:
    consoles = lazy("rich.console")


def any_encoding() -> None:
    """Characters that the output cannot take become question marks: a table in ASCII is better than none."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # replaced by something else, or closed
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def console() -> consoles.Console:
    """Standard output for tables and colours; a reader that has enough is told of as by any other print."""

    class Piped(consoles.Console):
        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

    return Piped(highlight=False)


@contextmanager
def noticing() -> Iterator[None]:
    """Print notices as one short message each, and other warnings as ever."""
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, Notice):
            before(message, category, *place, **more)
        elif str(message) not in said:
            said.add(str(message))
            typer.echo(f"budgetbench: {message}", err=True)

    with warnings.catch_warnings():
        before = warnings.showwarning
        warnings.simplefilter("always", Notice)
        warnings.showwarning = show
        yield


def flush() -> None:
    """Write out what is held back, so that a reader gone or a full disk is met here and not when Python ends."""
    if sys.stdout is not None:
        sys.stdout.flush()


def give_up_output() -> None:
    """Let nothing more be written to standard output, which takes no more."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

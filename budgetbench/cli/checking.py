"""`budgetbench check`."""

from __future__ import annotations

from pathlib import Path

import typer

from budgetbench.cli.output import console
from budgetbench.errors import BudgetbenchError
from budgetbench.verdicts import check, failures, write_verdicts
from budgetbench.verdicts.words import title
from budgetbench.verdicts.writing import FORMATS, shown


def check_results(root: Path, form: str, write: bool) -> None:
    """Show all verdicts on a folder of results.

    Raises
    ------
    BudgetbenchError : something that was run does not hold, and no reason is listed.
    """
    verdicts = check(root)
    if form == "text":
        console().print(shown(verdicts))
    else:
        typer.echo(FORMATS[form](verdicts), nl=False)
    for path in write_verdicts(verdicts, root) if write else []:
        typer.echo(f"written to {path}", err=True)
    failed = failures(verdicts)
    if failed:
        listed = "\n".join(f"  {verdict.id}: {title(verdict)}" for verdict in failed)
        what = f"{len(failed)} of {len(verdicts)} published numbers and claims"
        raise BudgetbenchError(f"{what} do not hold, for no known reason:\n{listed}")

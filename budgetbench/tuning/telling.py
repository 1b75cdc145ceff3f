"""What was found, as a table and as a configuration."""

from __future__ import annotations

from pathlib import Path

from budgetbench.document import dump
from budgetbench.experiment import KERNEL
from budgetbench.learners import learners
from budgetbench.results.files import replace_file
from budgetbench.results.measures import POINTS
from budgetbench.results.names import learner_title, parameters_text, value_text
from budgetbench.results.table import Cell, Column, Group, Table
from budgetbench.tuning.candidates import SETTINGS, TRIED, size_parameter
from budgetbench.tuning.search import Finalist, Tuned

HEADERS = ("Learner", "Size", "Parameters", "Bytes", "Validation, %", "95 % interval")


def shown(tuned: Tuned, memory: int) -> Table:
    """The best and the runners-up."""
    runs = tuned.finalists[0].error.runs
    return Table(
        title=f"{tuned.experiment.title}, {tuned.tried} candidates of at most {memory} bytes",
        columns=[Column(header, header not in ("Learner", "Parameters"), (header,)) for header in HEADERS],
        groups=[Group("", [[Cell(text, (text,)) for text in _row(tuned, one)] for one in tuned.finalists])],
        notes=[
            f"Mean over {runs} runs on training examples that were held out, and its interval; no test label was seen. "
            "Of several chosen as the best, the first looks a little better than it is."
        ],
    )


def _row(tuned: Tuned, one: Finalist) -> list[str]:
    cls = learners[one.algorithm]
    size, usual = size_parameter(cls), cls.defaults()
    tried = {*TRIED, *SETTINGS.get(one.algorithm, ())}
    told = [name for name, value in one.params.items() if name in tried and value != usual[name]]
    kernel = {name: value for name, value in tuned.experiment.kernel.plain.items() if name != "name"}
    kernel |= {name.removeprefix(KERNEL): value for name, value in one.params.items() if name.startswith(KERNEL)}
    low, high = one.error.low, one.error.high
    return [
        learner_title(one.algorithm),
        value_text(one.params[size]) if size else "",
        ", ".join(filter(None, (parameters_text(kernel, kernel), parameters_text(one.params, told)))),
        str(one.model_bytes),
        POINTS.text(100 * one.error.mean),
        "" if low is None or high is None else f"{100 * max(0.0, low):.2f}–{100 * high:.2f}",
    ]


def write_config(tuned: Tuned, memory: int, path: Path) -> None:
    """A configuration that runs the best one again, and tests it where there is a test set."""
    best = tuned.finalists[0]
    held = tuned.experiment.dataset.validation_size
    heading = (
        f"# The best of {tuned.tried} candidates whose model fits in {memory} bytes, by validation error: "
        f"{100 * best.error.mean:.2f} %.\n"
        f"# validation_size: {held} is held out of the training set; without it all of it is learnt.\n"
    )
    replace_file(path, heading + dump(tuned.experiment.resolved()))

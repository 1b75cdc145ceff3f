"""Runs over a dataset that passes by: all learners of a unit go through it together, and can be interrupted.

Now and then the state of all learners is saved, with what the stream itself remembers, in one file beside the results:
`under_way/<unit>.state`. Who starts again goes on from there, and learns to the last bit what he would have without the
interruption. The file is replaced whole, so that there is one, the newest; it goes when its runs are recorded. A second
one, `.rows`, tells how far the stream has come, for the line of progress.

A state is a pickle of the program's own objects, after a line that says whose it is. It is read by the same version of
the program, at the same commit, for the same runs alone, and only from one's own folder of results: like any pickle it
could do whatever its writer wants.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from budgetbench.datasets.flow import Flow
from budgetbench.engine.base import KernelClassifier
from budgetbench.engine.online import Memory, OnlineLearner, go_on
from budgetbench.passing import Passage
from budgetbench.results.curves import Noted
from budgetbench.results.files import replace_file
from budgetbench.runner.execute import Record, Setting, Unit, head, learned
from budgetbench.sparse import Inputs, bare
from budgetbench.streams import make_learner
from budgetbench.version import __version__

#: Of the results' folder: where states are kept.
FOLDER = "under_way"
#: Seconds between two states of a stream where nothing else is said.
SAVE_EVERY = 60.0


@dataclass
class Travellers:
    """Learners before whom a stream passes, and all that they go on with when its next part comes.

    Attributes
    ----------
    memory : rows that any of them keeps.
    courses : the course of each.
    """

    models: list[OnlineLearner]
    passage: Passage
    courses: list[Noted]
    memory: Memory | None = None

    def meet(self, inputs: Inputs, labels: Any, setting: Setting) -> None:
        """Learn from the next part."""
        self.memory = go_on(self.models, setting.kernel, self.memory, inputs, labels)
        for model, course in zip(self.models, self.courses, strict=True):
            course.go_by(model.margins_, model.sizes_)


@dataclass(frozen=True, kw_only=True)
class StreamedSetting(Setting):
    """What units have in common that go through a dataset that passes by.

    Parameters
    ----------
    found : the dataset, as it comes in the run of the unit.
    folder : where states are kept.
    save_every : seconds between two states.
    """

    found: Flow
    folder: Path
    save_every: float = SAVE_EVERY

    def sizes(self, run: int) -> tuple[int, int]:
        test = self.found.test()
        return self.found.n, 0 if test is None else len(test)

    def done(self, unit: Unit) -> list[Record]:
        state = State(self.folder, [trial.key for trial in unit.trials], self.commit)
        travellers = state.read() or self._setting_out(unit)
        travellers.passage.found = self.found
        saved = time.monotonic()
        with closing(travellers.passage.parts()) as parts:
            for inputs, labels in parts:
                travellers.meet(inputs, labels, self)
                state.tell(unit, travellers.courses, self.found.n)
                if time.monotonic() - saved >= self.save_every:
                    state.write(travellers)
                    saved = time.monotonic()
        tested = _tested(travellers.models, travellers.passage)
        return [
            head(trial, self, *self.sizes(unit.run)) | {"status": "ok"} | learned(model, course) | found
            for trial, model, course, found in zip(
                unit.trials, travellers.models, travellers.courses, tested, strict=True
            )
        ]

    def _setting_out(self, unit: Unit) -> Travellers:
        experiment, problem = self.experiment, self.problem
        models: list[Any] = [
            make_learner(experiment, one.algorithm, one.params, one.run, len(problem.classes)) for one in unit.trials
        ]
        for model in models:
            model.start(problem.classes, self.found.n_features)
        passage = Passage(self.found, experiment.dataset, experiment.label_noise, experiment.seed, unit.run)
        passage.fit()
        return Travellers(models, passage, [Noted(self.found.n, experiment.checkpoints) for _ in models])


def _tested(models: Sequence[KernelClassifier], passage: Passage) -> list[Record]:
    """What the learners err on in the file of test examples, where there is one."""
    records: list[Record] = [
        dict.fromkeys(("test_error", "averaged_test_error", "validation_error", "predict_seconds")) for _ in models
    ]
    test = passage.test()
    if test is None:
        return records
    inputs, labels = bare(test[0]), test[1]
    for model, record in zip(models, records, strict=True):
        begun = time.perf_counter()
        record["test_error"] = float(np.mean(model.errs(inputs, labels)))
        record["predict_seconds"] = round(time.perf_counter() - begun, 6)
        averaged = model.averaged_errs(inputs, labels)
        record["averaged_test_error"] = None if averaged is None else float(np.mean(averaged))
    return records


class State:
    """Where a unit's state is kept, and how far it says that it has come.

    Parameters
    ----------
    folder : of the states.
    keys : of the unit's trials.
    commit : the program's.
    """

    def __init__(self, folder: Path, keys: Sequence[str], commit: str | None) -> None:
        name = hashlib.sha256(" ".join(keys).encode()).hexdigest()[:16]
        self.path, self._rows = folder / f"{name}.state", folder / f"{name}.rows"
        self._whose = {"program": __version__, "commit": commit, "keys": list(keys)}

    def write(self, travellers: Travellers) -> None:
        """Replace the state that is there."""
        content = pickle.dumps(travellers, protocol=pickle.HIGHEST_PROTOCOL)
        told = self._whose | {"rows": travellers.courses[0].rounds, "sha256": hashlib.sha256(content).hexdigest()}
        self.path.parent.mkdir(exist_ok=True)
        replace_file(self.path, json.dumps(told).encode() + b"\n" + content)

    def read(self) -> Travellers | None:
        """The state to go on from; None where there is none, or `refusal` has something to say."""
        if not self.path.exists() or self.refusal():
            return None
        return pickle.loads(self.path.read_bytes().partition(b"\n")[2])

    def refusal(self) -> str:
        """Why the state that is there is not gone on from; empty where it is, or there is none."""
        if not self.path.exists():
            return ""
        line, _, content = self.path.read_bytes().partition(b"\n")
        try:
            told = json.loads(line)
            if {name: told.get(name) for name in self._whose} != self._whose:
                return f"it is of version {told.get('program')} at commit {told.get('commit')}"
        except (ValueError, AttributeError):
            return "it is damaged"
        return "" if hashlib.sha256(content).hexdigest() == told.get("sha256") else "it is damaged"

    def tell(self, unit: Unit, courses: Iterable[Noted], n: int) -> None:
        """Say how far the stream has come."""
        courses = list(courses)
        errors = [
            (course.mistakes / course.rounds, trial.algorithm)
            for trial, course in zip(unit.trials, courses, strict=True)
        ]
        fresh = self._rows.with_suffix(".fresh")
        with suppress(OSError):  # nothing but a line on a screen depends on it
            self._rows.parent.mkdir(exist_ok=True)
            fresh.write_text(
                json.dumps({"rows": courses[0].rounds, "of": n, "best": min(errors), "worst": max(errors)})
            )
            fresh.replace(self._rows)

    def remove(self) -> None:
        """Nothing is needed of it any more."""
        for path in (self.path, self._rows):
            path.unlink(missing_ok=True)


def forget(folder: Path, keys: Sequence[str]) -> None:
    """Remove the states of a unit whose trials have records, and of each of these where it went alone."""
    if folder.is_dir():
        for one in (keys, *([key] for key in keys)):
            State(folder, one, None).remove()
        with suppress(OSError):  # others are under way
            folder.rmdir()


def under_way(folder: Path) -> str:
    """How far the streams have come whose states are in a folder, in words; empty where nothing is known."""
    found = []
    for path in folder.glob("*.rows"):
        with suppress(OSError, ValueError):
            found.append(json.loads(path.read_text()))
    if not found:
        return ""
    rows, of = (sum(one[name] for one in found) for name in ("rows", "of"))
    best, worst = min(one["best"] for one in found), max(one["worst"] for one in found)
    errors = f"{best[0]:.2%} ({best[1]})" + (f" to {worst[0]:.2%} ({worst[1]})" if worst != best else "")
    return f"{rows:,} of {of:,} rows; online error {errors}"

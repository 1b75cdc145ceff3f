"""Learners and datasets that exist for these tests alone, so that messages can be compared word for word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Gt

from budgetbench.config import load
from budgetbench.datasets.base import Data, Dataset, Options, Request, datasets, register
from budgetbench.datasets.own_files import Files
from budgetbench.engine.base import KernelClassifier, learner, learners
from budgetbench.errors import ConfigError, ParameterError
from budgetbench.experiment import Experiment

BASE = """\
name: example
dataset:
  name: images
  positive: 0
kernel: {name: rbf, gamma: 0.5}
algorithms:
  - name: plain
"""

Whole = Annotated[int, Ge(1)]
Above = Annotated[float, Gt(0)]


def make_learners() -> None:
    @learner("plain", title="Plain", color="k", marker="o")
    class Plain(KernelClassifier):
        epochs: Whole = 1

    @learner("small", title="Small", color="k", marker="o", aliases=("sm",))
    class Small(KernelClassifier):
        epochs: Whole = 1
        budget: Whole
        mode: Literal["slow", "fast"] = "slow"
        beta: float | None = None
        queue: Whole | None = None

        @classmethod
        def _check_together(cls, values: dict[str, Any]) -> None:
            if values["queue"] is not None and values["mode"] != "fast":
                raise ParameterError("queue", values["queue"], "null, unless mode is fast")
            if values["beta"] is None:
                values["beta"] = {"slow": 0.0, "fast": 1.0}[values["mode"]]

    @learner("many", title="Many", color="k", marker="o")
    class Many(KernelClassifier):
        multiclass = True
        C: Above = 1.0


@dataclass(frozen=True)
class Drawing(Options):
    n: int = 1000


class Described(Dataset):
    """Known by its description alone: a configuration is checked without loading anything."""

    def _load(self, request: Request) -> Data:
        raise AssertionError("checking a configuration must not load data")


class Images(Described):
    name, classes, n_train, n_test, variants = "images", (0, 1, 2), 100, 20, ("smooth", "rough")


class Pooled(Described):
    name, classes, n_train, pooled = "pooled", ("no", "yes"), 50, True


class Drawn(Described):
    name, classes, n_train, pooled, generated = "drawn", (-1, 1), 1000, True, True
    options = Drawing


class Own(Described):
    name, options = "own", Files


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only these learners and datasets are registered."""
    for registry in (learners, datasets):
        monkeypatch.setattr(registry, "_items", {})
        monkeypatch.setattr(registry, "_aliases", {})
    make_learners()
    for dataset in (Images, Pooled, Drawn, Own):
        register(dataset)


Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a configuration as ``c.yaml`` in the current folder, which is what errors then name."""
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> Path:
        Path("c.yaml").write_text(text, encoding="utf-8")
        return Path("c.yaml")

    return write


@pytest.fixture
def read(write: Write) -> Callable[..., Experiment]:
    """Loads a configuration given as text."""
    return lambda text=BASE, **arguments: load(write(text), **arguments)


@pytest.fixture
def refused(write: Write) -> Callable[..., str]:
    """Loads a configuration that must be refused; gives the message."""

    def refused(text: str = BASE, **arguments: Any) -> str:
        with pytest.raises(ConfigError) as caught:
            load(write(text), **arguments)
        assert caught.value.exit_code == 2
        return str(caught.value)

    return refused

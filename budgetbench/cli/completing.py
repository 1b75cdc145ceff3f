"""What a shell offers when Tab is pressed; where nothing fits, it offers files by itself."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from budgetbench.lazy import lazy

if TYPE_CHECKING:
    from budgetbench import datasets, kernels, learners, plots, shipped
else:
    names = "datasets", "kernels", "learners", "plots", "shipped"
    datasets, kernels, learners, plots, shipped = (lazy(f"budgetbench.{name}") for name in names)

#: What lies in the folder of an experiment.
RECORDED = "experiment.yaml"


def configs() -> Iterable[str]:
    """Names of configurations."""
    return dict.fromkeys([*shipped.own(), *shipped.shipped()])


def algorithms() -> Iterable[str]:
    return learners.learners


def data() -> Iterable[str]:
    """Names of datasets."""
    return datasets.datasets


def data_or_configs() -> Iterable[str]:
    return dict.fromkeys([*data(), *configs()])


def folders(incomplete: str) -> Iterable[str]:
    """Folders of results: of all, of several experiments, of one."""
    root = Path(os.environ.get("BUDGETBENCH_RESULTS") or "results")
    begun = {root, Path(incomplete), Path(incomplete).parent} - {Path()}
    found = {file.parent for folder in begun for depth in ("*", "*/*") for file in folder.glob(f"{depth}/{RECORDED}")}
    return sorted(str(folder) for folder in found | {folder.parent for folder in found})


def listed(context: typer.Context) -> Iterable[str]:
    """What `budgetbench list KIND` can tell more of."""
    kind = context.params.get("kind")
    known = {"algorithms": algorithms, "datasets": data, "configs": configs}
    return known[kind]() if kind in known else plots.figures if kind == "plots" else kernels.kernels

"""What is asked: a configuration, a file of data, or the name of a dataset becomes an experiment to tune for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from budgetbench.config import load
from budgetbench.config.loading import interpret
from budgetbench.datasets import datasets
from budgetbench.document import dump, parse
from budgetbench.errors import RequestError, clipped, nearest
from budgetbench.experiment import Experiment
from budgetbench.shipped import own, shipped

#: Which dataset reads a file of this ending.
READERS = {".csv": "csv", ".npz": "npz", ".parquet": "parquet", ".libsvm": "libsvm", ".svm": "libsvm", ".txt": "libsvm"}
CONFIGS = (".yaml", ".yml")


def question(asked: str, overrides: Sequence[str] = ()) -> Experiment:
    """The experiment that a configuration describes, or one on data with nothing said but the median width.

    Parameters
    ----------
    asked : a configuration, a file of data, or the name of a dataset or of a configuration.
    overrides : ``KEY=VALUE`` in place of its values, such as ``dataset.positive=ill``.

    Raises
    ------
    RequestError
        For what is none of these, or a configuration that is wrong.
    """
    path = Path(asked)
    if path.suffix in CONFIGS or (asked not in datasets and asked in {**own(), **shipped()}):
        return load(path, overrides)
    if asked in datasets:
        section = {"name": datasets.canonical(asked)}
    elif path.suffix in READERS and path.is_file():
        section = {"name": READERS[path.suffix], "path": asked}
    else:
        endings = ", ".join([*CONFIGS, *READERS])
        message = f"{clipped(asked)}: found neither a file nor a dataset of this name"
        raise RequestError(
            f"{message}; accepted: a configuration or a file of data ({endings}), or one of {', '.join(datasets)}. "
            f"{nearest(asked, [*datasets, *own(), *shipped()])}".rstrip()
        )
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem).strip("-._") or "data"
    data = {
        "name": name,
        "dataset": section,
        "kernel": {"name": "rbf", "gamma": "median"},
        "algorithms": [{"name": "svm"}],  # takes any classes; the candidates come in its place
    }
    document = parse(dump(data), asked)
    for assignment in overrides:
        document.override(assignment)
    return interpret(document)

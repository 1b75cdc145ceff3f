"""Which runs an experiment consists of, and the key by which a finished one is known again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from budgetbench.config import Experiment
from budgetbench.learners import learners

#: Counted in every key: raise it when a change alters streams, noise or kernel values.
REVISION = 1


@dataclass(frozen=True)
class Trial:
    """One learner with one parameter set in one run."""

    algorithm: str
    params: dict[str, Any]
    run: int
    key: str


def plan(experiment: Experiment, identity: Callable[[int], str]) -> list[Trial]:
    """All trials of an experiment, run by run.

    Parameters
    ----------
    identity : names the content of the dataset in a run.
    """
    return [
        Trial(name, params, run, trial_key(experiment, identity(run), name, params, run))
        for run in range(experiment.permutations)
        for name, sets in experiment.trial_parameters()
        for params in sets
    ]


def trial_key(experiment: Experiment, identity: str, name: str, params: dict[str, Any], run: int) -> str:
    """16 hexadecimal digits that depend on what determines a trial's outcome, and on nothing else.

    Not on the experiment's name, its other algorithms or their number of runs, nor on the order of the keys.
    """
    section = experiment.dataset
    what = {
        "revision": REVISION,
        "data": identity,
        "positive": None if section.positive is None else sorted(map(str, section.positive)),
        "scale": [step for step in section.scale if step != "none"],
        "split": [section.train_size, section.test_size],
        "limit": section.limit,
        "noise": experiment.label_noise.model_dump() if experiment.label_noise.rate else None,
        "kernel": {"name": experiment.kernel.name, **asdict(experiment.kernel)},
        "order": experiment.order,
        "algorithm": [name, learners[name].revision],
        "params": params,
        "seed": experiment.seed,
        "run": run,
    }
    text = json.dumps(what, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]

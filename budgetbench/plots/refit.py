"""Learning the models of a recorded run once more, for figures that show more than a record holds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from budgetbench.errors import BudgetbenchError
from budgetbench.plots.base import NothingToDraw
from budgetbench.results import Results

if TYPE_CHECKING:
    from budgetbench.experiment import Experiment
    from budgetbench.streams import LearningProblem, Stream

RUN = 0
"""The run that is shown."""


@dataclass(frozen=True)
class Refit:
    """What the run shown learns from."""

    experiment: Experiment
    problem: LearningProblem
    stream: Stream

    def models(self, results: Results) -> Iterator[tuple[pd.Series[Any], Any]]:
        """The recorded trials of the run, in the configuration's order, each with its model.

        Raises
        ------
        NothingToDraw : a model is not the one whose result was recorded, as another version learnt that.
        """
        from budgetbench.engine.kernel_access import Gram, Streamed
        from budgetbench.runner.execute import make_learner
        from budgetbench.runner.plan import Trial

        experiment, problem = self.experiment, self.problem
        X = problem.X[: problem.n_train]
        own = experiment.dataset.inputs_differ  # no Gram matrix is made for inputs of one run
        access = Streamed(experiment.kernel, X) if own else Gram(experiment.kernel.matrix(X, X), X)
        trials = results.trials
        for _, trial in trials[(trials["run"] == RUN) & trials["test_error"].notna()].iterrows():
            model: Any = make_learner(Trial(trial["algorithm"], trial["params"], RUN, trial["key"]), experiment)
            model.start(problem.classes, X.shape[1])
            model.learn(access, self.stream.labels, self.stream.order)
            learnt, was = model.outcome().size, trial["support_size"]
            if learnt != was:
                message = f"{trial['algorithm']} {trial['params']} now stores {learnt} examples, its record says {was}"
                raise NothingToDraw(f"{message}: run the experiment again with --fresh")
            yield trial, model

    def wrong(self, model: Any) -> int:
        """How many training examples a model gets wrong, with the labels it was given."""
        rows, problem = self.stream.order, self.problem
        return int(model.errs(problem.X[rows], self.stream.labels[rows]).sum())


def refit(results: Results, inputs: int) -> Refit:
    """The experiment of some results, its data and the stream of its first run.

    Parameters
    ----------
    inputs : how many inputs the data has to have; others are refused before anything is learnt.

    Raises
    ------
    NothingToDraw : the data is another, or cannot be had.
    """
    from budgetbench.config import load
    from budgetbench.datasets import Cache
    from budgetbench.streams import load_problem, stream_of

    cache = Cache(os.environ.get("BUDGETBENCH_DATA", "data"), os.environ.get("BUDGETBENCH_MIRROR"), quiet=True)
    try:
        experiment = load(results.folder / "experiment.yaml")
        problem, _ = load_problem(experiment, cache, RUN)
    except BudgetbenchError as error:
        raise NothingToDraw(f"its models cannot be learnt again: {error}") from error
    if problem.X.shape[1] != inputs:
        raise NothingToDraw(f"{experiment.dataset.name} has {problem.X.shape[1]} inputs, this figure shows {inputs}")
    return Refit(experiment, problem, stream_of(problem, experiment, RUN))

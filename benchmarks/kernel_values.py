"""What a kernel value costs, against the bare product of two float32 matrices by BLAS.

For some configurations and for data of two inputs: the Gram matrix in a file, each value computed once and written
twice; the values of blocks of a stream with a support set; and predictions. In processor time for each value.

    python benchmarks/kernel_values.py [CONFIG...]
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from floors import fastest
from threadpoolctl import threadpool_limits

from budgetbench.config import load
from budgetbench.datasets import Cache
from budgetbench.engine.arrivals import BLOCK
from budgetbench.kernels import Floats, Kernel
from budgetbench.runner.workspace import write_gram
from budgetbench.streams import load_problem

CONFIGS = ("adult9", "usps", "fig4_mnist", "fig4_letter", "waveform", "synthetic")
ROWS, SUPPORT = 4096, 4096


def main(configs: list[str]) -> None:
    cache = Cache(os.environ.get("BUDGETBENCH_DATA", "data"), os.environ.get("BUDGETBENCH_MIRROR"), quiet=True)
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
    print(f"{'ns a value':14}{'inputs':>7}{'sgemm':>8}{'Gram':>8}{'ratio':>7}{'stream':>8}{'ratio':>7}{'predict':>9}")
    for name in configs:
        experiment = load(f"configs/{name}.yaml")
        X = load_problem(experiment, cache)[0].X
        kernel, A, S = experiment.kernel, X[:ROWS], X[-SUPPORT:].copy()
        weights = np.ones(len(S))

        def stream(A: Floats = A, S: Floats = S, kernel: Kernel = kernel) -> None:
            for start in range(0, len(A), BLOCK):
                kernel.matrix(A[start : start + BLOCK], S)

        with threadpool_limits(1), tempfile.TemporaryDirectory(dir=folder) as place:
            path = Path(place) / "gram.npy"
            floor = fastest(lambda: A @ S.T) / A.shape[0] / len(S)  # noqa: B023
            gram = fastest(lambda: write_gram(path, kernel, A, 1), 3) / len(A) ** 2  # noqa: B023
            streamed = fastest(stream, 3) / len(A) / len(S)
            predicted = fastest(lambda: kernel.expansion(A, S, weights), 3) / len(A) / len(S)  # noqa: B023
        print(
            f"{name:14}{X.shape[1]:7}{1e9 * floor:8.2f}{1e9 * gram:8.2f}{gram / floor:7.2f}"
            f"{1e9 * streamed:8.2f}{streamed / floor:7.2f}{1e9 * predicted:9.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or list(CONFIGS))

"""How a stream goes on: seconds for an example and memory by tenths of it, and when it first says something.

    python benchmarks/streams.py waveform 10000000                    five learners in one pass
    python benchmarks/streams.py waveform 1000000 --only forgetron    one alone
    python benchmarks/streams.py csv 2000000                          a table of 20 inputs, written first

Runs `budgetbench run` and looks at what it says of itself in `under_way` (Linux: memory is read in /proc).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

CONFIG = """\
name: measured
dataset: {{{dataset}, stream: true}}
kernel: {{name: rbf, gamma: 0.02}}
algorithms:
  - {{name: forgetron, budget: 500}}
  - {{name: rbp, budget: 500}}
  - {{name: projectron++, budget: 500}}
  - {{name: tighter_budget_perceptron, budget: 300, evaluate: random, evaluation_size: 300}}
  - {{name: nogd, budget: 500}}
"""


def resident(session: int) -> int:
    """Bytes of the largest process of a session."""
    largest = 0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                largest = max(largest, 4096 * int(fields[21]))
        except OSError:
            continue
    return largest


def write_table(path: Path, rows: int) -> None:
    random = np.random.default_rng(0)
    with path.open("w") as file:
        for _ in range(0, rows, 50_000):
            X = random.standard_normal((50_000, 20))
            y = (X[:, :5].sum(axis=1) + random.standard_normal(len(X)) > 0).astype(int)
            np.savetxt(file, np.column_stack([X, y]), fmt=["%.6f"] * 20 + ["%d"], delimiter=",")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["waveform", "csv"])
    parser.add_argument("rows", type=int)
    parser.add_argument("--only", action="append", default=[])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset = f"name: waveform_generated, n: {asked.rows}, positive: 1"
        if asked.kind == "csv":
            write_table(folder / "table.csv", asked.rows)
            dataset = f"name: csv, path: {folder}/table.csv, header: false"
        (folder / "c.yaml").write_text(CONFIG.format(dataset=dataset))
        only = [word for learner in asked.only for word in ("--only", learner)]
        command = [sys.executable, "-m", "budgetbench", "run", str(folder / "c.yaml"), "--jobs", "1", *only]
        begun = time.monotonic()
        process = subprocess.Popen([*command, "--results", str(folder / "r"), "--quiet"], start_new_session=True)
        seen, peak, ended = [(0, 0.0)], 0, None
        while (ended := process.poll()) is None:
            time.sleep(0.05)
            peak = max(peak, resident(process.pid))
            for path in (folder / "r" / "measured" / "under_way").glob("*.rows"):
                try:
                    rows = json.loads(path.read_text())["rows"]
                except (OSError, ValueError):
                    continue
                if rows >= seen[-1][0] + asked.rows / 10 or (rows and len(seen) == 1):
                    seen.append((rows, time.monotonic() - begun))
                    print(f"{rows:>10} rows after {seen[-1][1]:7.2f} s, at most {peak / 1e6:.0f} MB", flush=True)
        for (rows, at), (more, later) in pairwise(seen[1:]):
            print(f"{rows:>10} to {more:>10}: {1e6 * (later - at) / (more - rows):.2f} us for an example")
        print(f"in all {time.monotonic() - begun:.2f} s, at most {peak / 1e6:.0f} MB, exit code {ended}")


if __name__ == "__main__":
    main()

"""Runs over datasets that pass by: the same as in memory, wherever the stream is cut or interrupted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.processes import heed, wait

import budgetbench
from budgetbench.config import load
from budgetbench.datasets import Cache, flow
from budgetbench.runner import Crew, run_experiment

PROJECT = Path(budgetbench.__file__).resolve().parents[1]
N, D = 1400, 3
#: What may differ between a stream and the same data in memory.
OTHERS = ("key", "train_seconds", "kernel_seconds", "predict_seconds")

CONFIG = """\
name: passing
dataset: {name: DATASET}
label_noise: {rate: 0.1, mode: bernoulli, on: all}
kernel: {name: rbf, gamma: 2}
order: given
checkpoints: 7
algorithms:
  - {name: perceptron, average: true}
  - {name: forgetron, budget: 20}
  - {name: rbp, budget: 20}
  - {name: projectron++, budget: 15}
  - {name: tighter_budget_perceptron, budget: 12, evaluate: random, evaluation_size: 30}
  - {name: nogd, budget: 20, rank: 5}
"""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "PART", 256)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same examples in each of the formats."""
    pd = pytest.importorskip("pandas")
    folder = tmp_path_factory.mktemp("files")
    random = np.random.default_rng(3)
    X = random.standard_normal((N + 300, D)).round(3)
    y = np.where((X**2).sum(axis=1) + random.standard_normal(len(X)) > 2.4, 1, 0)
    for name, rows in (("train", slice(0, N)), ("test", slice(N, None))):
        frame = pd.DataFrame(X[rows], columns=["a", "b", "c"]).assign(label=y[rows])
        frame.to_csv(folder / f"{name}.csv", index=False)
        lines = [
            f"{k} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x, k in zip(X[rows], y[rows], strict=True)
        ]
        (folder / f"{name}.libsvm").write_text("\n".join(lines) + "\n")
        np.savez(folder / f"{name}.npz", X=X[rows], y=y[rows])
    return folder


def trials(tmp_path: Path, text: str, *overrides: str) -> list[dict[str, Any]]:
    """The records of an experiment, run in this process."""
    config = tmp_path / "c.yaml"
    config.write_text(text)
    experiment = load(config, overrides)
    results = tmp_path / f"results{len(list(tmp_path.iterdir()))}"
    crew = Crew(1, "threading")
    outcome = run_experiment(experiment, Cache(tmp_path / "data"), results, crew, quiet=True)
    assert not outcome.failed, outcome.errors
    lines = (results / experiment.name / "trials.jsonl").read_text().splitlines()
    assert not (results / experiment.name / "under_way").exists()
    found = [json.loads(line) for line in lines]
    return [{name: value for name, value in record.items() if name not in OTHERS} for record in found]


def own(files: Path, kind: str, more: str = "") -> str:
    return CONFIG.replace("DATASET", f"{kind}, path: {files}/train.{kind}, test_path: {files}/test.{kind}{more}")


@pytest.mark.parametrize("kind", ["csv", "libsvm", "npz"])
def test_a_stream_is_learnt_like_the_same_file_in_memory(kind: str, files: Path, tmp_path: Path) -> None:
    held = trials(tmp_path, own(files, kind, ", scale: [minmax, unit]"))
    assert trials(tmp_path, own(files, kind, ", scale: [minmax, unit], stream: true")) == held


@pytest.mark.parametrize("part", [100, 512, 1000, 5000])
def test_what_is_learnt_does_not_depend_on_the_parts(
    part: int, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = trials(tmp_path, own(files, "csv"))
    monkeypatch.setattr(flow, "PART", part)
    assert trials(tmp_path, own(files, "csv", ", stream: true")) == held


def test_several_classes_and_several_kernels(files: Path, tmp_path: Path) -> None:
    text = own(files, "csv", ", limit: 700, multiclass: one_vs_rest").replace("gamma: 2", "gamma: [1, 2]")
    three = files / "three.csv"
    rows = (files / "train.csv").read_text().splitlines()
    three.write_text("\n".join([rows[0], *(f"{row[:-1]}{k % 3}" for k, row in enumerate(rows[1:]))]) + "\n")
    text = re.sub(r"path: \S+, test_path: \S+,", f"path: {three},", text)
    text = "\n".join(line for line in text.splitlines() if "nogd" not in line)
    held = trials(tmp_path, text)
    assert trials(tmp_path, text.replace("limit: 700", "limit: 700, stream: true")) == held


def test_a_parquet_file(files: Path, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    for name in ("train", "test"):
        pd.read_csv(files / f"{name}.csv").to_parquet(tmp_path / f"{name}.parquet", row_group_size=300)
    held = trials(tmp_path, own(tmp_path, "parquet"))
    assert trials(tmp_path, own(tmp_path, "parquet", ", stream: true")) == held


def test_generated_parts_depend_neither_on_those_before_nor_on_how_many_follow() -> None:
    from budgetbench.datasets import datasets

    def parts(n: int, start: int = 0) -> list[Any]:
        dataset = datasets["waveform_generated"]
        request = dataset.request(Cache("."), None, 5, 0, None, {"n": n})
        return list(flow.flow_of(dataset, request).parts(start))

    whole = parts(900)
    assert [len(part) for part in whole] == [256, 256, 256, 132]
    assert [part.checksum for part in parts(700)[:2]] == [part.checksum for part in whole[:2]]
    assert [part.checksum for part in parts(900, 512)] == [part.checksum for part in whole[2:]]


def test_exact_noise_flips_exactly_that_share(files: Path, tmp_path: Path) -> None:
    from budgetbench.passing import Flips
    from budgetbench.sections import LabelNoise

    labels = np.zeros(1001, dtype=np.int64)
    flips = Flips(LabelNoise(0.1), 3, len(labels), 0, 0)
    noisy = np.concatenate([flips.of(labels[at : at + 90]) for at in range(0, len(labels), 90)])
    assert np.count_nonzero(noisy) == 100
    assert set(noisy) == {0, 1, 2}


def test_a_buffer_changes_the_order_and_nothing_else(files: Path, tmp_path: Path) -> None:
    from budgetbench.passing import Buffer

    buffer = Buffer(200, np.random.default_rng(0))
    rows = np.arange(1000, dtype=np.float32)[:, None]
    found = [buffer.exchanged(rows[at : at + 90], np.arange(at, min(at + 90, 1000))) for at in range(0, 1000, 90)]
    found.append(buffer.emptied())
    labels = np.concatenate([labels for _, labels in found])
    assert np.array_equal(np.sort(labels), np.arange(1000))
    assert not np.array_equal(labels, np.arange(1000))
    assert np.array_equal(np.concatenate([X for X, _ in found])[:, 0], labels)
    assert all((labels[at] <= at + 200) for at in range(800))  # none comes before it is read
    records = trials(tmp_path, own(files, "csv", ", stream: true, shuffle_buffer: 100").replace("order: given\n", ""))
    assert all(record["train_size"] == N for record in records)


@pytest.mark.parametrize("by", ["first_pass", "running"])
def test_standardised_inputs(by: str, files: Path, tmp_path: Path) -> None:
    held = trials(tmp_path, own(files, "csv", ", scale: standard"))
    found = trials(tmp_path, own(files, "csv", f", scale: standard, stream: true, scale_by: {by}"))
    for one, other in zip(found, held, strict=True):
        assert abs(one["online_error"] - other["online_error"]) < (0.002 if by == "first_pass" else 0.05)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("1,2,red,0", "line 1002: column c: found 'red'; expected a finite number"),
        ("1,2,,0", "line 1002: column c: found nothing"),
        ("1,2,inf,0", "line 1002: column c: found 'inf'"),
        ("1,2,0", "line 1002: 3 cells where other lines have 4"),
        ("1,2,3,4,0", "line 1002: 5 cells where other lines have 4"),
        ("1,2,3,", "line 1002: found no label"),
        ("1,2,3,7", "line 1002: found label 7; accepted: a class of the first"),
        ("1,2,3,x", "line 1002: "),
    ],
)
def test_a_value_that_comes_later_and_does_not_fit(
    row: str, told: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (files / "train.csv").read_text().splitlines()
    (tmp_path / "train.csv").write_text("\n".join([*lines[:1001], row, *lines[1001:]]) + "\n")
    monkeypatch.setattr("budgetbench.datasets.own_csv.PART", 256)  # what comes in the first part is refused at once
    monkeypatch.setattr("budgetbench.datasets.flow_text.PIECE", 1000)
    config = tmp_path / "c.yaml"
    config.write_text(CONFIG.replace("DATASET", f"csv, path: {tmp_path}/train.csv, stream: true"))
    outcome = run_experiment(load(config), Cache(tmp_path), tmp_path / "r", Crew(1, "threading"), quiet=True)
    assert outcome.failed == 6
    assert told in outcome.errors[0]


def test_what_a_stream_cannot_do_is_refused_with_its_line(files: Path, tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(
        f"""\
name: refused
dataset: {{name: csv, path: {files}/train.csv, stream: true, train_size: 5, test_size: 5, missing: mean}}
kernel: {{name: rbf, gamma: median, select: validation_error}}
order: shuffled
epochs: 2
algorithms:
  - {{name: svm, C: 1}}
  - {{name: perceptron}}
  - {{name: tighter_budget_perceptron, budget: 5, epochs: 1}}
"""
    )
    with pytest.raises(budgetbench.errors.ConfigError) as raised:
        load(config)
    told = str(raised.value)
    for key in ("train_size", "missing", "kernel.select", "order", "epochs", "algorithms[0].name", "evaluate"):
        assert key.split("[")[0] in told
    assert told.count("c.yaml:") == told.count("\n") + 1


LONG = """\
name: long
dataset: {name: waveform_generated, n: 60000, stream: true, positive: 1, shuffle_buffer: 3000, scale: standard,
          scale_by: running}
label_noise: {rate: 0.05}
kernel: {name: rbf, gamma: median}
algorithms:
  - {name: forgetron, budget: 30}
  - {name: rbp, budget: 30}
  - {name: projectron++, budget: 20}
  - {name: tighter_budget_perceptron, budget: 10, evaluate: flips, evaluation_size: 20}
  - {name: norma, nu: 0.1, budget: 20}
"""


def test_a_stream_that_is_killed_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(LONG)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("BUDGETBENCH")}
    command = [sys.executable, "-m", "budgetbench", "run", "c.yaml", "--jobs", "1", "--data", "d", "--save-every", "0"]

    def start(results: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*command, "--results", results],
            cwd=tmp_path,
            env=environment | {"PYTHONPATH": str(PROJECT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=heed,
        )

    def records(results: str) -> list[dict[str, Any]]:
        lines = (tmp_path / results / "long" / "trials.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in lines]
        return [{name: value for name, value in one.items() if not name.endswith("_seconds")} for one in found]

    def saved() -> list[Path]:
        return list((tmp_path / "killed" / "long" / "under_way").glob("*.state"))

    process = start("killed")
    wait(lambda: bool(saved()))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    at = json.loads(saved()[0].read_bytes().partition(b"\n")[0])["rows"]
    assert 0 < at < 60000
    again, whole = start("killed"), start("whole")
    assert "begins anew" not in again.communicate()[1]
    whole.communicate()
    assert again.returncode == whole.returncode == 0
    assert records("killed") == records("whole")
    assert not (tmp_path / "killed" / "long" / "under_way").exists()

"""The JSON Schema of a configuration: what the reader takes it takes, and what is wrong by itself it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from budgetbench.config import load
from budgetbench.config.schemas import schema
from budgetbench.document import dump, parse, read
from budgetbench.errors import ConfigError
from budgetbench.shipped import folder, schema_file, shipped

SCHEMA = schema()
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


@pytest.fixture
def known() -> None:
    """The real learners and datasets, unlike in the other tests of this folder."""


def problems(data: Any) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(json.loads(json.dumps(data)))]


def test_it_is_a_schema_and_the_one_that_is_kept() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    kept = json.loads(schema_file().read_text(encoding="utf-8"))
    assert kept == json.loads(json.dumps(SCHEMA)), "to write it: budgetbench schema > configs/schema.json"


@pytest.mark.parametrize("name", shipped())
def test_every_configuration_fits_as_written_and_as_resolved_and_names_the_schema(name: str) -> None:
    path = shipped()[name]
    assert problems(read(path).data) == []
    assert problems(load(path).resolved()) == []
    line = path.read_text(encoding="utf-8").splitlines()[0]
    start = "# yaml-language-server: $schema="
    assert line.startswith(start)
    assert (path.parent / line.removeprefix(start)).resolve() == folder() / "schema.json"


PLAIN = """\
name: tiny
dataset: {name: gaussian, n: 100}
kernel: {name: rbf, gamma: [0.5, 1]}
algorithms:
  - {name: budget_perceptron, budget: [5, 9]}
  - {estimator: "sklearn.linear_model:SGDClassifier", features: {nystroem: {n_components: [4, 8]}}, chunk: 8}
"""


def test_what_is_written_in_other_ways(tmp_path: Path) -> None:
    assert problems(parse(PLAIN, "").data) == []
    for line, other in (
        ("  - {name: budget_perceptron, budget: [5, 9]}", "  - {name: rbp}"),  # an alias
        ("gamma: [0.5, 1]", "gamma: median"),
        ("n: 100}", "n: 100, scale: [range, unit], positive: 1, train_size: 60, test_size: 30, validation_size: 0.2}"),
        ("name: tiny", "name: tiny\ntitle:\nplots:\nlabel_noise:"),
    ):
        file = tmp_path / "c.yaml"
        file.write_text(PLAIN.replace(line, other), encoding="utf-8")
        load(file)
        assert problems(read(file).data) == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("name: tiny", "name: ti/ny"),
        ("name: tiny", "name: tiny."),
        ("name: tiny", "nam: tiny"),
        ("name: tiny", "name: tiny\npermutations: 0"),
        ("name: tiny", "name: tiny\norder: backwards"),
        ("name: tiny", "name: tiny\nlabel_noise: {rate: 2}"),
        ("name: tiny", "name: tiny\nlabel_noise: {mode: exact}"),
        ("name: tiny", "name: tiny\ntable: {layout: round}"),
        ("name: tiny", "name: tiny\nplots: [{kind: pie}]"),
        ("name: tiny", "name: tiny\nplots: [{kind: decision_2d, columns: 9}]"),
        ("name: tiny", "name: tiny\nplots: [{kind: error_vs_support, colums: 2}]"),
        ("name: tiny", "name: tiny\nreproduces: {paper: weston2005}"),
        ("gaussian, n: 100", "gausian"),
        ("n: 100", "n: 1"),
        ("n: 100", "n: many"),
        ("n: 100", "m: 100"),
        ("n: 100", "scale: []"),
        ("n: 100", "scale: half"),
        ("n: 100", "positive: [1, 1]"),
        ("n: 100", "validation_size: 1.5"),
        ("n: 100", "variant: smoothed"),
        ("gaussian, n: 100", "usps, n: 100"),
        ("gaussian, n: 100", "usps, variant: rough"),
        ("gaussian, n: 100", "csv"),
        ("gamma: [0.5, 1]", "gamma: []"),
        ("gamma: [0.5, 1]", "gamma: [1, 1]"),
        ("gamma: [0.5, 1]", "gamma: -1"),
        ("gamma: [0.5, 1]", "degree: 2"),
        ("gamma: [0.5, 1]", "select: best"),
        ("budget_perceptron,", "budget_percepton,"),
        ("[5, 9]", "0"),
        ("[5, 9]", "2.5"),
        ("[5, 9]", "true"),
        ("budget: [5, 9]", "eta: 1"),
        ("name: budget_perceptron, ", ""),
        ("chunk: 8", "chunks: 8"),
        ("chunk: 8", "chunk: 0"),
        ("nystroem:", "nystrom:"),
        ("n_components: [4, 8]", "n_components: 0"),
    ],
)
def test_what_is_wrong_by_itself_is_refused_as_the_reader_refuses_it(line: str, wrong: str, tmp_path: Path) -> None:
    assert line in PLAIN
    file = tmp_path / "c.yaml"
    file.write_text(PLAIN.replace(line, wrong, 1), encoding="utf-8")
    assert problems(read(file).data)
    with pytest.raises(ConfigError):
        load(file)


def test_keys_tell_what_they_mean_and_their_defaults() -> None:
    budget = SCHEMA["definitions"]["algorithms.tighter_budget_perceptron"]["properties"]["budget"]
    assert budget["description"].startswith(
        "the number p of examples that are stored at most (an integer of at least 1"
    )
    assert budget["default"] == 100
    assert SCHEMA["properties"]["permutations"]["default"] == 1
    told = [part for name in SCHEMA["definitions"].values() for part in name["properties"].values()]
    assert all(part is True or part.get("description") for part in told)
    assert dump(SCHEMA)

"""References: there is one for everything that results make use of, and BibTeX can read them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from budgetbench import published
from budgetbench.archive import write_summary
from budgetbench.config import load
from budgetbench.datasets import datasets
from budgetbench.document import dump
from budgetbench.learners import learners
from budgetbench.results.files import replace_file
from budgetbench.sharing import cite
from budgetbench.sharing.citing import references

#: What an entry of a kind cannot do without.
REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "book": {"author", "title", "publisher", "year"},
    "incollection": {"author", "title", "booktitle", "publisher", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "misc": {"title"},
}
FIELD = re.compile(r"\s*(\w+) = \{")


def parsed(text: str) -> dict[str, tuple[str, dict[str, str]]]:
    """The kind and the fields of each entry, by key; every brace has to have its other one."""
    entries: dict[str, tuple[str, dict[str, str]]] = {}
    for begun in re.finditer(r"@(\w+)\{([^,\s]+),", text):
        place, fields = begun.end(), dict[str, str]()
        while found := FIELD.match(text, place):
            end, depth = found.end(), 1
            while depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            assert found[1] not in fields
            fields[found[1]] = text[found.end() : end - 1]
            place = end + (text[end] == ",")
        assert text[place:].lstrip().startswith("}"), begun[0]
        assert begun[2] not in entries
        entries[begun[2]] = begun[1], fields
    return entries


ENTRIES = parsed("\n".join(references().values()))


def test_entries_are_sound_and_in_order() -> None:
    assert list(ENTRIES) == list(references()) == sorted(references())
    for key, (kind, fields) in ENTRIES.items():
        assert fields.keys() >= REQUIRED[kind], key
        assert all(field.isascii() and "&" not in field for field in fields.values()), key
        assert fields["year"] in key or key == "scikit-learn"


@pytest.mark.parametrize("name", list(learners.registered))
def test_every_learner_has_a_reference(name: str) -> None:
    learner = learners[name]
    if learner.__module__.startswith("budgetbench."):
        assert learner.references
        assert set(learner.references) <= references().keys()


@pytest.mark.parametrize("name", list(datasets.registered))
def test_every_dataset_that_is_not_the_users_own_has_a_reference(name: str) -> None:
    dataset = datasets[name]
    if type(dataset).__module__.startswith("budgetbench."):
        assert bool(dataset.references) == bool(dataset.citation)
        for key in dataset.references:
            surname = ENTRIES[key][1]["author"].partition(",")[0].replace('{\\"a}', "ä")
            assert surname in dataset.citation


def test_no_entry_is_there_for_nothing() -> None:
    items = [*learners.registered.values(), *datasets.registered.values()]
    used = {key for item in items for key in getattr(item, "references", ())}
    packages = {"scikit-learn"}  # where estimators come from
    assert references().keys() == used | set(published.PAPERS) | packages


def test_the_papers_are_what_their_numbers_say_of_them() -> None:
    for key in published.PAPERS:
        told, (_, fields) = published.read(key).data["paper"], ENTRIES[key]
        assert re.sub("[{}]", "", fields["title"]).casefold() == told["title"].casefold()
        assert (fields["year"], fields["booktitle"]) == (str(told["year"]), told["venue"])


def test_the_program_is_called_what_its_citation_file_says(results: Callable[..., Path]) -> None:
    told = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8"))
    _, fields = parsed(cite(results()))["budgetbench"]
    assert re.sub("[{}]", "", fields["title"]).casefold() == told["title"].casefold()
    assert fields["note"] == "Version 0.0.7"


CONFIG = """\
name: tiny
reproduces: {paper: weston2005, item: Figure 10}
dataset: {name: banana, train_size: 100, test_size: 50}
kernel: {name: rbf, gamma: 1}
algorithms:
  - {name: svm, C: [1, 10]}
  - {name: forgetron, budget: 5}
  - {name: forgetron, budget: 9}
"""


@pytest.fixture
def results(tmp_path: Path) -> Callable[..., Path]:
    """A folder of results in which nothing has been run."""

    def results(*more: str, config: str = CONFIG) -> Path:
        (tmp_path / "c.yaml").write_text("".join([config, *more]), encoding="utf-8")
        folder = tmp_path / "results" / "tiny"
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / "experiment.yaml", dump(load(tmp_path / "c.yaml").resolved()))
        replace_file(folder / "trials.jsonl", "")
        told: dict[str, Any] = {"budgetbench": "0.0.7", "packages": {"joblib": "1.2_3"}}
        replace_file(folder / "provenance.json", json.dumps(told))
        write_summary(folder)
        return folder

    return results


def test_each_entry_is_there_once_with_those_that_it_is_for(results: Callable[..., Path]) -> None:
    said = cite(results())
    keys = ["budgetbench", "chang2011", "cortes1995", "dekel2008", "fan2005", "ratsch2001", "weston2005"]
    assert list(parsed(said)) == keys
    assert "% Forgetron\n@article{dekel2008," in said
    assert cite(results().parent) == said


def test_estimators_of_other_packages_name_these(results: Callable[..., Path]) -> None:
    folder = results('  - {estimator: "sklearn.linear_model:SGDClassifier", chunk: 50}\n')
    assert "SGDClassifier" in cite(folder).split("@article{scikit-learn")[0].splitlines()[-1]
    text = (folder / "experiment.yaml").read_text(encoding="utf-8")
    replace_file(folder / "experiment.yaml", text.replace("sklearn.linear_model:", "absent.module:"))
    assert parsed(cite(folder))["absent"] == ("misc", {"title": "{absent}", "note": "Python package"})

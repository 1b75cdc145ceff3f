"""Putting folders of results together, such as the shards of an experiment that several machines have run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from budgetbench.archive import experiment_folders, read_provenance, write_summary
from budgetbench.config import recorded
from budgetbench.errors import BudgetbenchError, RequestError, shown
from budgetbench.experiment import Experiment
from budgetbench.results.curves import at_checkpoints
from budgetbench.results.files import replace_file
from budgetbench.results.records import Line, file_of, read_lines
from budgetbench.runner.store import Store

#: What may differ between two records of a run: how long it took, and where and by which version it was done.
ASIDE = frozenset({"train_seconds", "kernel_seconds", "predict_seconds", "host", "commit", "version"})
#: What of the provenance is the experiment's own, and not of those who ran it.
OF_ALL = ("keys", "data")
#: Where the provenance of merged folders keeps what is different for all but the first.
OTHERS = "others"


@dataclass(frozen=True)
class Merged:
    """What became of one experiment.

    Attributes
    ----------
    folder : where it is now.
    runs : how many of its trials are there and ended well.
    planned : how many it has; None where no provenance tells.
    """

    folder: Path
    runs: int
    planned: int | None


def merge(sources: Sequence[Path], into: Path) -> list[Merged]:
    """Put the experiments of several folders of results together, with what is in `into` already.

    The records of an experiment then stand in the order of its plan, and its summary and table are made anew, so that
    they are those of one undivided run. Figures are left to `plot`. All is checked before anything is written.

    Raises
    ------
    RequestError : a folder holds no results, or two hold different experiments under one name.
    BudgetbenchError : two folders have different outcomes of the same run, or a run on `into` is going on.
    """
    found: dict[str, list[Path]] = {}
    for source in sources:
        for folder in experiment_folders(source):
            found.setdefault(recorded(folder / "experiment.yaml").name, []).append(folder)
    for name, folders in found.items():
        if file_of(into / name).is_file():
            folders.insert(0, into / name)
        _together(folders)
    return [_merge(folders, into / name) for name, folders in found.items()]


def _merge(folders: Sequence[Path], into: Path) -> Merged:
    with Store(into) as store:  # what is in `into` cannot change from here on
        found, provenance = _together(folders)
        keys = provenance.get("keys") or []
        places = {key: place for place, key in enumerate(keys)}
        ordered = sorted(
            found.values(), key=lambda line: (places.get(line.record["key"], len(places)), line.record["key"])
        )
        text = (folders[0] / "experiment.yaml").read_bytes()
        replace_file(store.path, b"".join(line.text + b"\n" for line in ordered))
        replace_file(into / "experiment.yaml", text)
        if provenance:
            replace_file(into / "provenance.json", json.dumps(provenance, indent=2) + "\n")
        write_summary(into)
        store.keep()
    done = {key for key, line in found.items() if line.record["status"] == "ok"}
    return Merged(into, len(done & places.keys() if keys else done), len(keys) if keys else None)


def _together(folders: Sequence[Path]) -> tuple[dict[str, Line], dict[str, Any]]:
    """The line of each run by its key, and the provenance, of folders of one experiment."""
    experiments = [recorded(folder / "experiment.yaml") for folder in folders]
    for folder, other in zip(folders, experiments, strict=True):
        _check_same(folders[0], experiments[0], folder, other)
    return _lines(folders, experiments[0].checkpoints), _provenance(folders)


def _check_same(first: Path, one: Experiment, folder: Path, other: Experiment) -> None:
    if one == other:
        return
    ours, theirs = one.resolved(), other.resolved()
    name = next((name for name in ours if ours[name] != theirs.get(name)), "kernel")
    raise RequestError(
        f"{first / 'experiment.yaml'}, {folder / 'experiment.yaml'}: {name}: found {shown(ours[name])} and "
        f"{shown(theirs.get(name))}; accepted: one experiment. Run one configuration, or merge them apart."
    )


def _lines(folders: Sequence[Path], checkpoints: int) -> dict[str, Line]:
    """The record that counts of each run: the first, but one that ended well rather than one that failed."""
    found: dict[str, tuple[Line, Path]] = {}
    for folder in folders:
        path = file_of(folder)
        for line in _latest(path):
            before, where = found.get(line.record["key"], (None, path))
            if before is None or (before.record["status"], line.record["status"]) == ("failed", "ok"):
                found[line.record["key"]] = line, path
            elif before.record["status"] == line.record["status"] == "ok":
                _check_equal(before.record, where, line.record, path, checkpoints)
    return {key: line for key, (line, _) in found.items()}


def _latest(path: Path) -> Iterable[Line]:
    """The line that counts of each run in one file: the last, or the last that ended well where there is one."""
    found: dict[str, Line] = {}
    for line in read_lines(path).good:
        before = found.get(line.record["key"])
        if before is None or line.record["status"] == "ok" or before.record["status"] != "ok":
            found[line.record["key"]] = line
    return found.values()


def _check_equal(one: dict[str, Any], path: Path, other: dict[str, Any], there: Path, checkpoints: int) -> None:
    if one == other:
        return
    first, second = compared(one, checkpoints), compared(other, checkpoints)
    different = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    if different:
        name = different[0]
        raise BudgetbenchError(
            f"{path}, {there}: {name} of {one['algorithm']} in run {one['run']}, key {one['key']}: found "
            f"{shown(first.get(name))} and {shown(second.get(name))}; accepted: the same outcome of the same run. "
            "Find out which of them is wrong: --fresh makes a folder's runs again."
        )


def compared(record: dict[str, Any], checkpoints: int) -> dict[str, Any]:
    """What two records of a run have to agree in: all but `ASIDE`; of a curve, the checkpoints that are asked for."""
    told = {name: value for name, value in record.items() if name not in ASIDE}
    curve = told.get("curve")
    return told | {"curve": curve and (at_checkpoints(curve, checkpoints) if checkpoints else None)}


def _provenance(folders: Sequence[Path]) -> dict[str, Any]:
    """The first folder's, and under `others` what is different for each of the others: machine, versions, settings."""
    known = [(folder, content) for folder in folders if (content := read_provenance(folder))]
    if not known:
        return {}
    (first, merged), *rest = known
    others = list(merged.get(OTHERS, []))
    for folder, content in rest:
        for name in OF_ALL:
            if content.get(name) != merged.get(name):
                raise RequestError(
                    f"{first / 'provenance.json'}, {folder / 'provenance.json'}: {name} are not the same; accepted: "
                    "folders whose runs saw the same data, by versions that name runs alike. Run one of them anew."
                )
        differing = {name: value for name, value in content.items() if merged.get(name) != value and name != OTHERS}
        for one in (*([differing] if differing else []), *content.get(OTHERS, [])):
            if one not in others:
                others.append(one)
    return {name: value for name, value in merged.items() if name != OTHERS} | ({OTHERS: others} if others else {})

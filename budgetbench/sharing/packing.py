"""Packs: one file with the configuration, the runs and the provenance of an experiment, for others to reproduce.

A pack is a zip archive of ``pack.json`` (what it is), ``experiment.yaml``, ``provenance.json`` (versions, machine,
fingerprint of the data), the runs that ended well in the compact form, and the references as BibTeX. The user's own
data files are not in it. Nothing of it tells when or where it was made, so that the same results give the same bytes.

A pack may come from anybody: it is read in memory, by the names of its parts, and nothing is written from it.
"""

from __future__ import annotations

import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from budgetbench import config
from budgetbench.archive import experiment_folders, read_provenance
from budgetbench.datasets import limits
from budgetbench.document import LARGEST_FILE, dump, parse
from budgetbench.errors import RequestError, clipped
from budgetbench.experiment import Experiment
from budgetbench.results import compact
from budgetbench.results.files import replace_file
from budgetbench.results.records import Line, file_of, latest, parsed, read_lines
from budgetbench.results.schema import Unfit
from budgetbench.sharing.citing import cite
from budgetbench.version import __version__

ABOUT, EXPERIMENT, PROVENANCE, REFERENCES = "pack.json", "experiment.yaml", "provenance.json", "references.bib"
FORMAT = 1
#: The earliest time that a zip archive can tell.
LONG_AGO = (1980, 1, 1, 0, 0, 0)
#: What zipfile and the readers of its parts raise where an archive is no pack.
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    ValueError,
    KeyError,
    Unfit,
    MemoryError,
)


@dataclass(frozen=True)
class Packed:
    """What became of a folder: the file, its runs, and how many were left out as they had failed."""

    path: Path
    runs: int
    failed: int


@dataclass(frozen=True)
class Pack:
    """What a pack holds.

    Attributes
    ----------
    path : where it lies.
    text : its configuration.
    provenance : what its runs were made with.
    records : its runs.
    """

    path: Path
    text: str
    provenance: Mapping[str, Any]
    records: tuple[dict[str, Any], ...]

    def experiment(self, permutations: int | None = None) -> Experiment:
        """What is to be run; with so many runs, in place of the configuration's.

        Raises
        ------
        ConfigError : this version does not accept the configuration.
        """
        return config.made_of(parse(self.text, f"{self.path}/{EXPERIMENT}"), permutations=permutations)


def pack(root: Path | str, out: Path | None = None) -> Packed:
    """Write the pack of an experiment's folder, by default as NAME.zip into the current one.

    Raises
    ------
    RequestError : there is not one experiment, or no run of it ended well.
    """
    folders = experiment_folders(root)
    if len(folders) > 1:
        names = ", ".join(str(folder) for folder in folders[:3])
        raise RequestError(f"{root}: found {len(folders)} experiments; accepted: the folder of one, such as {names}")
    [folder] = folders
    experiment, provenance = config.recorded(folder / EXPERIMENT), read_provenance(folder)
    found = {line.record["key"]: line for line in _lines(folder)}
    keys = provenance.get("keys") or list(found)
    planned = [found[key] for key in keys if key in found]
    good = [line.text for line in planned if line.record["status"] == "ok"]
    if not good:
        raise RequestError(f"{folder}: found no run that ended well; accepted: at least one. Run it first.")
    about = {
        "format": FORMAT,
        "budgetbench": __version__,
        "experiment": experiment.name,
        "runs": len(good),
        "estimators": sorted({entry.name for entry in experiment.algorithms if ":" in entry.name}),
    }
    content: dict[str, str | bytes] = {
        ABOUT: _json(about),
        EXPERIMENT: _without_folders((folder / EXPERIMENT).read_text(encoding="utf-8-sig")),
        PROVENANCE: _json(provenance),
        compact.FILE: compact.packed(good),
        REFERENCES: cite(folder),
    }
    path = out or Path(f"{folder.resolve().name}.zip")
    replace_file(path, _archive(content))
    return Packed(path, len(good), len(planned) - len(good))


def _lines(folder: Path) -> list[Line]:
    """The line that counts of each run."""
    lines = read_lines(file_of(folder)).good
    counts = {id(record) for record in latest(line.record for line in lines).values()}
    return [line for line in lines if id(line.record) in counts]


def _without_folders(text: str) -> str:
    """A configuration in which files that are given from the root, or from a home, are looked for where it is run."""
    data = parse(text, EXPERIMENT).data
    dataset = data.get("dataset")
    for name, value in dataset.items() if isinstance(dataset, dict) else ():
        if isinstance(value, str) and (value.startswith("~") or _is_absolute(value)):
            dataset[name] = PureWindowsPath(value).name  # which knows both strokes
    return dump(data)


def _is_absolute(value: str) -> bool:
    return PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute()


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2) + "\n"


def _archive(content: Mapping[str, str | bytes]) -> bytes:
    """A zip archive whose bytes depend on the content alone: nothing is compressed, as what is large is already."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, what in content.items():
            member = zipfile.ZipInfo(name, LONG_AGO)
            member.create_system, member.external_attr = 3, 0o644 << 16
            archive.writestr(member, what)
    return file.getvalue()


def read(path: Path) -> Pack:
    """What a pack holds.

    Raises
    ------
    RequestError : there is none, or it is damaged, or too large, or of a later version.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(limits.read_whole(path))) as archive:
            about = _mapping(_part(archive, ABOUT))
            if about["format"] != FORMAT:
                found = clipped(str(about["format"]))
                raise RequestError(
                    f"{path}: found format {found}; accepted: {FORMAT}. Try a later version of budgetbench."
                )
            text, provenance = _part(archive, EXPERIMENT, LARGEST_FILE).decode(), _mapping(_part(archive, PROVENANCE))
            lines = compact.unpacked(_part(archive, compact.FILE)).splitlines()
        records = latest(parsed(line) for line in lines if line.strip()).values()
    except FileNotFoundError:
        raise RequestError(
            f"{path}: no such file; accepted: a pack, as budgetbench pack EXPERIMENT writes it"
        ) from None
    except DAMAGED as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise RequestError(f"{path} is no pack, or a damaged one ({clipped(why)}). Ask for it again.") from None
    return Pack(path, text, provenance, tuple(record for record in records if record["status"] == "ok"))


def _part(archive: zipfile.ZipFile, name: str, most: int = limits.LARGEST) -> bytes:
    """One of its files; ValueError where that would be far more than a pack holds."""
    member = archive.getinfo(name)
    if member.file_size > min(most, limits.allowed(member.compress_size)):
        raise ValueError(f"{name} unpacks to {limits.gigabytes(member.file_size)}")
    return archive.read(member)


def _mapping(content: bytes) -> dict[str, Any]:
    found = json.loads(content)
    if not isinstance(found, dict):
        raise ValueError("no mapping where one belongs")
    return found

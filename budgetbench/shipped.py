"""The configurations that come with the program, and which file is meant by a name.

>>> shipped()["beyond_digits"].name
'digits.yaml'
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from budgetbench.errors import RequestError, clipped, nearest

SUFFIX = ".yaml"


@cache
def folder() -> Path:
    """Where they lie: in the package once it is installed, beside it in a checkout."""
    package = Path(__file__).parent
    inside, beside = package / "configs", package.parent / "configs"
    return inside if inside.is_dir() else beside


@cache
def shipped() -> dict[str, Path]:
    """The file of each configuration by its name, which is that of the experiment: those of a folder begin with its."""
    return {
        "_".join(path.relative_to(folder()).with_suffix("").parts): path
        for path in sorted(folder().rglob(f"*{SUFFIX}"), key=lambda path: (len(path.parts), path))
    }


def schema_file() -> Path:
    """The schema of configurations, beside those that come with the program."""
    return folder() / "schema.json"


def own() -> dict[str, Path]:
    """The files of the current folder that a name may mean."""
    return {path.stem: path for path in sorted(Path().glob(f"*{SUFFIX}")) if path.is_file()}


def meant(asked: str | Path) -> Path:
    """The file that a path or a name means.

    A path is always itself. What is there as a file wins, as it stands or with ``.yaml`` after it; else it is the name
    of a configuration that comes with the program.

    Raises
    ------
    RequestError
        For a name that nothing has.
    """
    path = Path(asked)
    if path.exists() and not path.is_dir():
        return path
    if path.suffix or len(path.parts) != 1:
        if not path.exists() and path.stem in shipped() and path.suffix in ("", SUFFIX):
            message = f"{clipped(str(asked))}: no such file; accepted: the path of a configuration, or a name"
            raise RequestError(f"{message}. {path.stem!r} alone is the one that comes with the program")
        return path
    found = own().get(path.name) or shipped().get(path.name)
    if found:
        return found
    if path.is_dir():
        return path
    message = f"{clipped(str(asked))}: no such file, and no configuration of this name comes with the program"
    hint = nearest(path.name, [*own(), *shipped()]) or "See: budgetbench list configs"
    raise RequestError(f"{message}; accepted: the path of a configuration, or a name. {hint}")

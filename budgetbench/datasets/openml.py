"""Tables of OpenML by their id. The files are had as those of any dataset; scikit-learn's `fetch_openml` reads them."""

from __future__ import annotations

import gzip
import json
import tempfile
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import urlsplit

from annotated_types import Ge, Le

from budgetbench.datasets.base import Options, Request, register
from budgetbench.datasets.cache import Cache, File, Reach, ending_in_order, place, sweep
from budgetbench.datasets.columns import Sheet
from budgetbench.datasets.download import UnusableError
from budgetbench.datasets.own_tables import Handling, OwnTable, sheet_of_frame
from budgetbench.datasets.parse import brief
from budgetbench.errors import DataError
from budgetbench.lazy import lazy, pd
from budgetbench.parameters import Text

if TYPE_CHECKING:
    from sklearn import datasets as sklearn_datasets
else:
    sklearn_datasets = lazy("sklearn.datasets")

API = "https://www.openml.org/api/v1/json/data/"
#: Bytes of a large table; how large it is, is not known before it comes.
LARGE = 500_000_000
#: Where `fetch_openml` keeps what it has read before, in its folder: by the path of the URL.
KEPT = "openml/openml.org"

T = TypeVar("T")


@dataclass(frozen=True)
class Which(Options):
    """Which table.

    Parameters
    ----------
    id : the number of the dataset on OpenML.
    label : the name of the label's column; left out: the target that OpenML names.
    """

    id: Annotated[int, Ge(1), Le(2**31 - 1)]
    label: Text | None = None


@dataclass(frozen=True)
class OpenMLOptions(Handling, Which):
    """Which table, and what becomes of columns that are no numbers."""


@register
class OpenML(OwnTable):
    name = "openml"
    title = "OpenML"
    summary = "a table of OpenML by its id, such as id: 31"
    source = "openml.org"
    licence = "as OpenML says of each dataset"
    citation = (
        "J. Vanschoren, J. N. van Rijn, B. Bischl, L. Torgo, OpenML: networked science in machine learning, SIGKDD "
        "Explorations 15(2), 2013; and what OpenML says of each dataset"
    )
    references = ("vanschoren2013",)
    preparation = "as published; columns that OpenML says to ignore are left out"
    fetched = "fetched when a configuration that names an id is run"
    options = OpenMLOptions

    def at_hand(self, cache: Cache, options: Mapping[str, Any]) -> bool:
        names = "description.json", "features.json", "data.arff"
        return all((cache.folder / "openml" / str(options["id"]) / name).exists() for name in names)

    def sheets(self, request: Request) -> tuple[tuple[Path, Sheet], None]:
        options, cache = request.options, request.cache
        folder, api = f"openml/{options.id}", {}
        with ending_in_order():
            sweep(cache.folder)
            for name, address in (("description", API), ("features", f"{API}features/")):
                file = File(folder, f"{name}.json", (f"{address}{options.id}",))
                api[name] = had(cache, file, json.loads)
            url, checksum = source_of(options.id, api["description"])
            file = File(folder, "data.arff", (url,), content_checksum=f"md5:{checksum}", size=LARGE)
            content = had(cache, file, bytes)
        path = cache.path(file)
        try:
            frame = frame_of(options, api, url, content)
        except ValueError as error:
            raise DataError(f"{path}: {error}") from error
        label = options.label or target_of(path, api["features"])
        return (path, sheet_of_frame(path, frame[: request.limit], label, options.drop or (), options.missing)), None


def had(cache: Cache, file: File, read: Callable[[bytes], T]) -> T:
    """What a file holds, from the nearest place that has it and can be read; DataError says what was tried."""
    reasons = []
    for origin in cache.origins(file, Reach.PUBLIC):
        try:
            fetched = cache.fetch(file, origin)
        except UnusableError as error:
            if origin or str(error) != "not there":
                reasons.append(f"  {place(origin) if origin else cache.path(file)}: {error}")
            continue
        try:
            found = read(fetched.content)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            reasons.append(f"  {place(origin) if origin else cache.path(file)}: cannot be read ({brief(error)})")
            fetched.drop()
            continue
        fetched.keep()
        return found
    where = f"Put it at {cache.path(file)}, or name a folder or URL that holds {file.place}"
    lines = [f"{file.place} of OpenML could not be had.", *reasons, f"{where} with --mirror or BUDGETBENCH_MIRROR."]
    raise DataError("\n".join(lines))


def source_of(number: int, description: Any) -> tuple[str, str]:
    """Where a table is, and its checksum (MD5), as its description says."""
    try:
        told = description["data_set_description"]
        url, checksum = str(told["url"]), str(told["md5_checksum"])
    except (KeyError, TypeError):
        raise DataError(f"openml/{number}/description.json: not a description of a dataset by OpenML") from None
    if urlsplit(url).scheme not in ("http", "https"):
        raise DataError(f"openml/{number}/description.json: found the URL {url[:80]!r}; expected one of https")
    return url, checksum


def frame_of(options: OpenMLOptions, api: Mapping[str, Any], url: str, content: bytes) -> pd.DataFrame:
    """The table without what OpenML says to ignore, as `fetch_openml` reads it; ValueError if it cannot."""
    told = api["description"]["data_set_description"]
    if str(told.get("format", "")).lower() not in ("arff", ""):
        raise ValueError(f"its format is {told['format']}; only dense tables (ARFF) are read")
    paths = {
        f"api/v1/json/data/{options.id}": json.dumps(api["description"]).encode(),
        f"api/v1/json/data/features/{options.id}": json.dumps(api["features"]).encode(),
        f"api/v1/json/data/qualities/{options.id}": b"{}",  # it goes on without them
        urlsplit(url).path.lstrip("/"): content,
        f"data/v1/download/{told.get('file_id')}": content,  # where scikit-learn 1.6 looks
    }
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tables that have a newer version
        for path, held in paths.items():
            kept = Path(folder, KEPT, path + ".gz").resolve()
            if not kept.is_relative_to(Path(folder).resolve()):
                raise ValueError(f"the URL {url[:80]} is none of a file")
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(gzip.compress(held, compresslevel=1))
        try:
            found = sklearn_datasets.fetch_openml(
                data_id=options.id, data_home=folder, target_column=None, as_frame=True, n_retries=1, delay=0.01
            )
        except Exception as error:  # it fails in many ways on files that are damaged
            raise ValueError(f"cannot be read ({brief(error)})") from error
    return found.data


def target_of(path: Path, features: Any) -> str:
    """The column that OpenML names as the target; DataError where it names none, or several."""
    targets = [feature["name"] for feature in features["data_features"]["feature"] if feature["is_target"] == "true"]
    if len(targets) != 1:
        raise DataError(f"{path}: OpenML names {len(targets)} columns as the target; name one with dataset.label")
    return str(targets[0])

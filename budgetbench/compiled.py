"""The compiler of the inner loops, where compiled loops are kept, and records that they write in place.

numba's own cache notices a change in the file of a loop but not in the files of the helpers it calls, ends the program
where a file is damaged or a disk full, and lets two processes mix up files. Here all sources name a folder and
everything that a compiled loop depends on names its file, so that files appear whole, never change, and whatever is
wrong with one only means to compile again.
"""

from __future__ import annotations

import copyreg
import hashlib
import os
import pickle
import platform
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, update_wrapper
from pathlib import Path
from typing import Any, TypeVar, cast, get_type_hints

import numpy as np

from budgetbench.lazy import lazy
from budgetbench.private import private_folder

llvmlite, numba = lazy("llvmlite"), lazy("numba")
numba_config, numba_compiler = lazy("numba.core.config"), lazy("numba.core.compiler")
numba_serialize = lazy("numba.core.serialize")

Function = TypeVar("Function", bound=Callable[..., object])
Layout = TypeVar("Layout")

UNUSED = 90 * 24 * 3600.0
"""Seconds after which the loops of another state of the sources are removed."""


def compiled(function: Function) -> Function:
    """Compile on first use, keep the result on disk, and release the interpreter's lock while running.

    No fast-math: a sign decides a mistake, so sums are added up in the order in which they are written.
    """
    return _loop(function)


def contracted(function: Function) -> Function:
    """As `compiled`, and a product may be fused with a sum: where products are exact, that changes no bit."""
    return _loop(function, {"contract"})


def _loop(function: Function, fastmath: bool | set[str] = False) -> Function:
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return function
    return cast(Function, Loop(function, fastmath))


class Loop:
    """A function that is compiled when it is first called, by Python or by another loop; numba is imported then."""

    def __init__(self, function: Callable[..., object], fastmath: bool | set[str]) -> None:
        update_wrapper(self, function)
        self._function, self._fastmath = function, fastmath

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        """numba's own, which has a compiled form for each combination of types."""
        dispatcher: Any = numba.njit(nogil=True, error_model="numpy", fastmath=self._fastmath)(self._function)
        dispatcher._cache = Kept(self._function)
        return dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What numba takes this for where another loop calls it."""
        return self.dispatcher._numba_type_


def record(layout: type[Layout]) -> Layout:
    """One number for each annotation of a class, an int or a float, all 0: to numba a record, passed by reference.

    A name must be none that NumPy's scalars have, such as ``size`` or ``round``.
    """
    types = {int: np.int64, float: np.float64}
    dtype = np.dtype((np.record, [(name, types[kind]) for name, kind in get_type_hints(layout).items()]))
    return cast(Layout, np.zeros((), dtype)[()])


def _written_out(one: np.record) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return _read_back, (one.dtype, one.tobytes())


def _read_back(dtype: np.dtype[Any], content: bytes) -> Any:
    return np.frombuffer(bytearray(content), dtype)[0]


# NumPy's own way gives a record on which Python sets a number without effect: it lies in no array.
copyreg.pickle(np.record, _written_out)


class Kept:
    """The compiled forms of one function, as numba's dispatcher asks for them."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._file = function.__code__.co_filename

    @property
    def cache_path(self) -> str | None:
        folder = loops_folder()
        return None if folder is None else str(folder)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled form for these types, None where it is not there or damaged."""
        context.refresh()
        path = self._path(signature, context.codegen())
        if path is None:
            return None
        try:
            content = path.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(content[32:]).digest() != content[:32]:  # damaged: native code of which half is there aborts
            return None
        return numba_compiler.CompileResult._rebuild(context, *pickle.loads(content[32:]))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep a compiled form, if there is room for it."""
        path = self._path(signature, result.codegen)
        if path is None or any(not lifted.can_cache for lifted in result.lifted) or result.library.has_dynamic_globals:
            return
        content = numba_serialize.dumps(result._reduce())
        fresh = path.with_suffix(f".{os.getpid()}")
        try:
            fresh.write_bytes(hashlib.sha256(content).digest() + content)
            fresh.replace(path)
        except OSError:
            with suppress(OSError):
                fresh.unlink()

    def flush(self) -> None:
        """numba calls this before it compiles anew; what that gives has the same name."""

    def _path(self, signature: Any, codegen: Any) -> Path | None:
        folder = loops_folder()
        if folder is None:
            return None
        what = f"{self._name} {_content(self._file)} {signature} {codegen.magic_tuple()}"
        return folder / f"{self._name}-{hashlib.sha256(what.encode()).hexdigest()[:16]}.loop"


@cache
def _content(file: str) -> str:
    """What identifies the content of a source, which need not be one of ours."""
    with suppress(OSError):
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return ""


@cache
def loops_folder() -> Path | None:
    """The folder of the present state of the sources, compiler and Python; None where nothing can be kept."""
    private = private_folder()
    if private is None:
        return None
    folder = private / "compiled" / _state()
    try:
        if not folder.is_dir():
            sweep(folder.parent)
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.utime(folder)  # in use
    except OSError:
        return None
    return folder


def _state() -> str:
    """What compiled loops depend on, beside their own name and types."""
    checked = numba_config.BOUNDSCHECK  # type: ignore[attr-defined]
    versions = f"{numba.__version__} {llvmlite.__version__} {platform.python_version()} {checked}"
    digest = hashlib.sha256(versions.encode())
    package = Path(__file__).parent
    folders = [package / name for name in ("kernels", "engine", "learners")]
    loops = [package / "compiled.py", *(file for each in folders for file in each.rglob("*.py"))]
    for source in sorted(loops):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def sweep(folder: Path) -> None:
    """Remove the folders that no process has asked for in a long time."""
    for old in folder.iterdir() if folder.is_dir() else ():
        with suppress(OSError):
            if old.is_dir() and not old.is_symlink() and time.time() - old.stat().st_mtime > UNUSED:
                shutil.rmtree(old)

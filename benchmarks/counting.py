"""Counts of what was computed: kernel values, and products of matrices with their operations.

Nothing is asked of the package: while a count is open, the kernels' tiles and BLAS's functions for matrices are
replaced by ones that count and then do the same, and `a @ b` is written as a call in modules of the package that are
imported after `count_products`. What compiled loops multiply is their own arithmetic, and not counted.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any
from unittest import mock

#: Names under which BLAS's functions for matrices come in `scipy.linalg.blas`, behind the letter of their precision.
PRECISIONS, FUNCTIONS = "sd", ("gemm", "symm", "syrk", "trmm", "trsm")
#: Decorators of loops that numba compiles: it knows `@` and would not know the call.
COMPILED = {"compiled", "contracted"}
CALL = "__counted_product__"
#: What gives a kernel's values by tiles, and what did at former commits.
TILES, FORMER = "by_tile", "_by_tile"


@dataclass
class Counts:
    """What was computed while the count was open.

    kernel_values : in tiles, whoever asked for them, and one by one in float64.
    products : of matrices, those with a vector among them.
    operations : additions and multiplications in them.
    """

    kernel_values: int = 0
    products: int = 0
    operations: int = 0

    def note_product(self, operations: int) -> None:
        self.products += 1
        self.operations += operations


_open: list[Counts] = []


@contextmanager
def counting() -> Iterator[Counts]:
    """Count in this context what the present thread and all others compute."""
    counts = Counts()
    with ExitStack() as replaced:
        for owner, name, function in [*_kernels(counts), *_blas(counts)]:
            replaced.enter_context(mock.patch.object(owner, name, function))
        _open.append(counts)
        replaced.callback(_open.remove, counts)
        yield counts


def _kernels(counts: Counts) -> Iterator[tuple[type, str, Callable[..., Any]]]:
    from budgetbench.kernels import Kernel

    def by_tile(compute: Callable[..., Any]) -> Callable[..., Any]:
        def counted(kernel: Any, X: Any, Z: Any) -> Iterator[Any]:
            for rows, columns, tile in compute(kernel, X, Z):
                counts.kernel_values += tile.size
                yield rows, columns, tile

        return counted

    def by_row(compute: Callable[..., Any]) -> Callable[..., Any]:
        def counted(kernel: Any, x: Any, Z: Any) -> Any:
            counts.kernel_values += len(Z)
            return compute(kernel, x, Z)

        return counted

    for cls in _all_of(Kernel):
        for name, counted in ((TILES, by_tile), (FORMER, by_tile), ("row", by_row)):
            own = vars(cls).get(name)
            if own is not None and not getattr(own, "__isabstractmethod__", False):
                yield cls, name, counted(own)


def _all_of(cls: type) -> Iterator[type]:
    yield cls
    for below in cls.__subclasses__():
        yield from _all_of(below)


def _blas(counts: Counts) -> Iterator[tuple[ModuleType, str, Callable[..., Any]]]:
    import scipy.linalg.blas as blas

    def wrapped(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
        def counted(alpha: float, a: Any, *arguments: Any, **options: Any) -> Any:
            found = compute(alpha, a, *arguments, **options)
            inner = a.shape[0] if name == "gemm" and options.get("trans_a") else a.shape[1]
            triangular = name in ("trmm", "trsm")
            counts.note_product(found.size * (a.shape[0] if triangular else 2 * inner))
            return found

        return counted

    for name in FUNCTIONS:
        for precision in PRECISIONS:
            yield blas, precision + name, wrapped(name, getattr(blas, precision + name))


def product(a: Any, b: Any) -> Any:
    """a @ b"""
    found = a @ b
    for counts in _open:
        counts.note_product(2 * math.prod(getattr(found, "shape", ())) * a.shape[-1])
    return found


class _Written(ast.NodeTransformer):
    """Writes `a @ b` as a call."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if COMPILED & {one.id for one in node.decorator_list if isinstance(one, ast.Name)}:
            return node
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        called = ast.Call(ast.Name(CALL, ast.Load()), [node.left, node.right], [])
        return ast.fix_missing_locations(ast.copy_location(called, node))


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        """From the source: bytecode that is kept is that of the plain module."""
        tree = _Written().visit(ast.parse(self.get_data(self.path), self.path))
        return compile(tree, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        setattr(module, CALL, product)
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, package: str) -> None:
        self._package = package

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name.partition(".")[0] != self._package:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
            spec.loader = _Loader(name, spec.loader.path)
        return spec


def count_products(package: str) -> None:
    """Write `a @ b` as a call that can be counted in modules of this package, from now on."""
    sys.meta_path.insert(0, _Finder(package))

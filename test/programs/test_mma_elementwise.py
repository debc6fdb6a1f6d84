"""Every kind of gpu.subgroup_mma_elementwise on every fragment, against NumPy.

An accumulator is stored as it is. An operand is multiplied by an identity matrix first: wmma stores
accumulators only, and the numbers are such that nothing is rounded.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from support.driver import main

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("mma_elementwise")

Array = NDArray[Any]


def _divided(sign: str, x: Array, y: Array) -> Array:
    kind = np.dtype(f"{sign}{x.itemsize}")
    quotient = np.trunc(x.view(kind).astype(np.float64) / y.view(kind))
    return quotient.astype(np.int64).astype(kind).view(x.dtype)


_FLOATS: dict[str, Callable[..., Array]] = {
    "addf": np.add,
    "mulf": np.multiply,
    "subf": np.subtract,
    "divf": np.divide,
    "maxf": np.maximum,
    "minf": np.minimum,
    "negatef": np.negative,
}
_INTEGERS: dict[str, Callable[..., Array]] = {
    "addi": np.add,
    "muli": np.multiply,
    "subi": np.subtract,
    "divs": partial(_divided, "i"),
    "divu": partial(_divided, "u"),
    "negates": np.negative,
}


@dataclass(frozen=True)
class Fragment:
    """A matrix type: its element, use, and the sizes of the product that it is part of."""

    element: str
    use: str
    m: int = 16
    n: int = 16
    k: int = 16

    @property
    def name(self) -> str:
        return f"{self.element}_{self.use[0]}_{self.m}x{self.n}x{self.k}"

    @property
    def stored(self) -> str:
        return {"si8": "i8", "ui8": "i8"}.get(self.element, self.element)

    @property
    def dtype(self) -> np.dtype[Any]:
        names = {"f16": "f2", "f32": "f4", "f64": "f8", "si8": "i1", "ui8": "u1", "i32": "i4"}
        return np.dtype(names[self.element])

    @property
    def sum(self) -> str:
        return "i32" if self.stored == "i8" else self.element

    @property
    def shape(self) -> tuple[int, int]:
        shapes = {"A": (self.m, self.k), "B": (self.k, self.n), "C": (self.m, self.n)}
        return shapes[self.use[0]]

    @property
    def kinds(self) -> dict[str, Callable[..., Array]]:
        return _FLOATS if self.element.startswith("f") else _INTEGERS

    def matrix(self, use: str) -> str:
        rows, columns = {"A": (self.m, self.k), "B": (self.k, self.n)}.get(use, (self.m, self.n))
        element = self.sum if use == "C" else self.element
        return f'!gpu.mma_matrix<{rows}x{columns}x{element}, "{use}Op">'


# Every element type as every operand; the shapes of 16-wide products in turn.
_FRAGMENTS = [
    Fragment("f16", "AOp"),
    Fragment("f16", "BOp", 32, 8),
    Fragment("f16", "COp", 8, 32),
    Fragment("si8", "AOp", 8, 32),  # one register
    Fragment("si8", "BOp"),
    Fragment("ui8", "AOp", 32, 8),
    Fragment("ui8", "BOp", 32, 8),  # one register
    Fragment("i32", "COp"),
    Fragment("f32", "AOp", k=8),
    Fragment("f32", "BOp", k=8),
    Fragment("f32", "COp", 32, 8),
    *(Fragment("f64", use, 8, 8, 4) for use in ("AOp", "BOp", "COp")),
]
_EXTENDED = [Fragment("f16", "COp"), Fragment("f16", "COp", 32, 8)]


def _program(fragment: Fragment) -> str:
    use = fragment.use[0]
    other = "B" if use == "A" else "A"
    rows, columns = fragment.shape
    own, identity, total = fragment.matrix(use), fragment.matrix(other), fragment.matrix("C")
    across = (fragment.k, fragment.n) if use == "A" else (fragment.m, fragment.k)
    kinds = "".join(
        _computed(number, kind, fragment, own, identity, total)
        for number, kind in enumerate(fragment.kinds)
    )
    sizes = f"{len(fragment.kinds)}x{fragment.m}x{fragment.n}x{fragment.sum}"
    data = f"memref<{rows}x{columns}x{fragment.stored}>"
    unit = f"memref<{across[0]}x{across[1]}x{fragment.stored}>"
    loaded = f"""
    %identity = gpu.subgroup_mma_load_matrix %unit[%c0, %c0]
        {{leadDimension = {across[1]} : index}} : {unit} -> {identity}
    %none = gpu.subgroup_mma_load_matrix %out[%c0, %c0, %c0]
        {{leadDimension = {fragment.n} : index}} : memref<{sizes}> -> {total}"""
    return f"""
func.func @{fragment.name}(%x: {data}, %y: {data}, %unit: {unit}, %out: memref<{sizes}>)
    attributes {{llvm.emit_c_interface}} {{
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {{
    %c0 = arith.constant 0 : index
    %a = gpu.subgroup_mma_load_matrix %x[%c0, %c0]
        {{leadDimension = {columns} : index}} : {data} -> {own}
    %b = gpu.subgroup_mma_load_matrix %y[%c0, %c0]
        {{leadDimension = {columns} : index}} : {data} -> {own}
    {loaded if use != "C" else ""}
    {kinds}
    gpu.terminator
  }}
  return
}}
"""


def _computed(
    number: int, kind: str, fragment: Fragment, own: str, identity: str, total: str
) -> str:
    one = kind.startswith("negate")
    operands, types = ("%a", own) if one else ("%a, %b", f"{own}, {own}")
    stored = f"%r{number}"
    text = f"""
    %i{number} = arith.constant {number} : index
    %r{number} = gpu.subgroup_mma_elementwise {kind} {operands} : ({types}) -> {own}"""
    if fragment.use != "COp":
        factors, kinds = f"%r{number}, %identity", f"{own}, {identity}"
        if fragment.use == "BOp":
            factors, kinds = f"%identity, %r{number}", f"{identity}, {own}"
        stored = f"%s{number}"
        text += f"""
    %s{number} = gpu.subgroup_mma_compute {factors}, %none : {kinds} -> {total}"""
    sizes = f"{len(fragment.kinds)}x{fragment.m}x{fragment.n}x{fragment.sum}"
    return f"""{text}
    gpu.subgroup_mma_store_matrix {stored}, %out[%i{number}, %c0, %c0]
        {{leadDimension = {fragment.n} : index}} : {total}, memref<{sizes}>"""


def _extending_program(fragment: Fragment) -> str:
    rows, columns = fragment.shape
    own = fragment.matrix("C")
    wide = own.replace("f16", "f32")
    return f"""
func.func @extf_{fragment.name}(%x: memref<{rows}x{columns}xf16>,
    %out: memref<{rows}x{columns}xf32>) attributes {{llvm.emit_c_interface}} {{
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {{
    %c0 = arith.constant 0 : index
    %a = gpu.subgroup_mma_load_matrix %x[%c0, %c0]
        {{leadDimension = {columns} : index}} : memref<{rows}x{columns}xf16> -> {own}
    %b = gpu.subgroup_mma_elementwise extf %a : ({own}) -> {wide}
    gpu.subgroup_mma_store_matrix %b, %out[%c0, %c0]
        {{leadDimension = {columns} : index}} : {wide}, memref<{rows}x{columns}xf32>
    gpu.terminator
  }}
  return
}}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("mma_elementwise")
    source = folder / "all.mlir"
    texts = [*map(_program, _FRAGMENTS), *map(_extending_program, _EXTENDED)]
    source.write_text("".join(texts))
    built = folder / "all.so"
    assert main([str(source), "-o", str(built), "--emit=shared", "--offload-arch=cpu", "-O1"]) == 0
    return ctypes.CDLL(str(built))


def _numbers(fragment: Fragment) -> tuple[Array, Array]:
    """Returns operands whose sums, products and quotients every type of product keeps exactly."""
    random = np.random.default_rng(7)
    if fragment.element.startswith("f"):
        x = random.integers(-64, 64, fragment.shape).astype(fragment.dtype)
        y = random.choice([-4.0, -2.0, -1.0, 0.5, 1.0, 2.0], fragment.shape)
        return x, y.astype(fragment.dtype)
    bounds = np.iinfo(fragment.dtype)
    x = random.integers(bounds.min, bounds.max, fragment.shape, fragment.dtype, endpoint=True)
    # -1 is left out: the least integer divided by it is no integer.
    y = random.choice([2, 3, 5, 7, bounds.max, bounds.max - 1], fragment.shape)
    return x, y.astype(fragment.dtype)


@pytest.mark.parametrize("fragment", _FRAGMENTS, ids=lambda fragment: fragment.name)
def test_elementwise(library: ctypes.CDLL, fragment: Fragment) -> None:
    x, y = _numbers(fragment)
    if fragment.use == "COp" and fragment.element.startswith("f"):
        x[0, :3] = [np.nan, np.inf, -np.inf]
        y[1, :3] = [np.nan, np.inf, -np.inf]
    across = (fragment.k, fragment.n) if fragment.use == "AOp" else (fragment.m, fragment.k)
    unit = np.eye(*across).astype(fragment.dtype)
    sums = fragment.dtype if fragment.sum == fragment.element else np.dtype("i4")
    out = np.zeros((len(fragment.kinds), fragment.m, fragment.n), sums)
    _call(library, fragment.name, x, y, unit, out)
    for (kind, compute), found in zip(fragment.kinds.items(), out, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = compute(x) if kind.startswith("negate") else compute(x, y)
        whole = np.zeros((fragment.m, fragment.n), sums)
        rows, columns = (min(a, b) for a, b in zip(whole.shape, expected.shape, strict=True))
        whole[:rows, :columns] = expected[:rows, :columns]
        np.testing.assert_array_equal(found, whole, err_msg=kind)


def _call(library: ctypes.CDLL, name: str, *arrays: Array) -> None:
    """Calls a function by pointers to memref descriptors."""
    descriptors = [_descriptor(each) for each in arrays]
    getattr(library, f"_mlir_ciface_{name}")(*map(ctypes.byref, descriptors))


def _descriptor(array: Array) -> ctypes.Array[ctypes.c_int64]:
    """Two pointers, the offset, sizes and strides in elements: integers of eight bytes all."""
    strides = [stride // array.itemsize for stride in array.strides]
    fields = [array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides]
    return (ctypes.c_int64 * len(fields))(*fields)


@pytest.mark.parametrize("fragment", _EXTENDED, ids=lambda fragment: fragment.name)
def test_extf(library: ctypes.CDLL, fragment: Fragment) -> None:
    x = np.arange(256).reshape(fragment.shape).astype(np.float16)
    out = np.zeros(fragment.shape, np.float32)
    _call(library, f"extf_{fragment.name}", x, out)
    np.testing.assert_array_equal(out, x.astype(np.float32))

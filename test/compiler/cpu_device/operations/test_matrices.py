"""Matrix products and moves against numpy; fragments by the tables of the PTX ISA."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from numpy.typing import NDArray

from hirc.compiler.cpu_device.operations import operation

from .fragments import (
    BITS,
    Matrix,
    decode,
    encode,
    pack,
    place_a,
    place_b,
    place_c,
    random_matrix,
    unpack,
)
from .warp import Array, perform

_PRODUCTS = [
    "mma.m16n8k16.row.col.f32.f32",
    "mma.m16n8k16.row.col.f16.f16",
    "mma.m16n8k8.row.col.f32.f32",
    "mma.m16n8k8.row.col.f16.f16",
    "mma.m16n8k16.row.col.bf16",
    "mma.m16n8k8.row.col.bf16",
    "mma.m16n8k4.row.col.tf32",
    "mma.m16n8k8.row.col.tf32",
    "mma.m8n8k4.row.col.f64",
    "mma.m16n8k4.row.col.f64",
    "mma.m16n8k8.row.col.f64",
    "mma.m16n8k16.row.col.f64",
    "mma.m8n8k16.row.col.s8",
    "mma.m16n8k16.row.col.s8.u8",
    "mma.m16n8k32.row.col.u8.s8",
    "mma.m16n8k32.row.col.satfinite.u8",
    "mma.m8n8k32.row.col.s4",
    "mma.m16n8k32.row.col.u4.s4",
    "mma.m16n8k64.row.col.s4.u4",
    "mma.xor.popc.m8n8k128.row.col.b1",
    "mma.and.popc.m16n8k128.row.col.b1",
    "mma.xor.popc.m16n8k256.row.col.b1",
    "mma.m16n8k32.row.col.f32.e4m3.e5m2.f32",
    "mma.m16n8k16.row.col.f16.e5m2.e4m3.f16",
]
_ELEMENTS = list(BITS)


@pytest.mark.parametrize("name", _PRODUCTS)
def test_mma(library: ctypes.CDLL, name: str) -> None:
    found = operation(f"llvm.nvvm.{name}")
    assert found is not None
    m, n, k, *types = found.parameters[:7]
    d, a, b, c = (_ELEMENTS[type_] for type_ in types)
    rng = np.random.default_rng(3)
    left, right = random_matrix(rng, a, (m, k)), random_matrix(rng, b, (k, n))
    start = random_matrix(rng, c, (m, n))
    operands = [
        *pack(left, a, place_a(a, m)),
        *pack(right, b, place_b(b)),
        *pack(start, c, place_c(m)),
    ]
    width = np.dtype(np.uint64 if d == "f64" else np.uint32)
    results = [width] * max(1, m * n // 32 * BITS[d] // (width.itemsize * 8))
    done = perform(library, found.function, operands, results, found.parameters)
    expected = start + left @ right
    if "xor" in name:
        expected = start + np.logical_xor(left[:, :, None], right[None, :, :]).sum(axis=1)
    given = unpack(done.results, d, (m, n), place_c(m))
    np.testing.assert_array_equal(given, expected)


def test_integer_sums_wrap_or_saturate(library: ctypes.CDLL) -> None:
    for name, expected in (
        ("mma.m16n8k16.row.col.s8", np.iinfo(np.int32).min),
        ("mma.m16n8k16.row.col.satfinite.s8", np.iinfo(np.int32).max),
    ):
        found = operation(f"llvm.nvvm.{name}")
        assert found is not None
        ones = [np.where(np.arange(32) % 4 == 0, np.uint32(1), np.uint32(0)) for _ in range(3)]
        most = [np.full(32, 0x7FFFFFFF, np.uint32)] * 4
        done = perform(
            library, found.function, [*ones, *most], [np.dtype(np.int32)] * 4, found.parameters
        )
        assert (done.results[0] == expected).all()


@pytest.mark.parametrize("layout", ["row.col", "col.row", "row.row", "col.col"])
@pytest.mark.parametrize("accumulator", ["f32", "f16"])
def test_quad_pairs(library: ctypes.CDLL, layout: str, accumulator: str) -> None:
    """m8n8k4 of f16: four products, of lanes 4q.. and 4q + 16..."""
    found = operation(f"llvm.nvvm.mma.m8n8k4.{layout}.{accumulator}.{accumulator}")
    assert found is not None
    a_by, b_by = layout.split(".")
    rng = np.random.default_rng(4)
    left, right = rng.integers(-4, 5, (4, 8, 4)), rng.integers(-4, 5, (4, 4, 8))

    def half(value: float) -> int:
        return encode("f16", value)

    operands = [np.zeros(32, np.uint32) for _ in range(4)]
    for lane in range(32):
        quad, upper = lane // 4 % 4, 4 * (lane >= 16)
        for i in range(4):
            a = (
                left[quad, lane % 4 + upper, i]
                if a_by == "row"
                else left[quad, i + upper, lane % 4]
            )
            b = (
                right[quad, lane % 4, i + upper]
                if b_by == "row"
                else right[quad, i, lane % 4 + upper]
            )
            operands[i // 2][lane] |= np.uint32(half(a) << (16 * (i % 2)))
            operands[2 + i // 2][lane] |= np.uint32(half(b) << (16 * (i % 2)))
    registers = 8 if accumulator == "f32" else 4
    zeros = [np.zeros(32, np.uint32)] * registers
    done = perform(
        library,
        found.function,
        [*operands, *zeros],
        [np.dtype(np.uint32)] * registers,
        found.parameters,
    )
    for lane in range(32):
        quad, upper = lane // 4 % 4, 4 * (lane >= 16)
        product = left[quad] @ right[quad]
        for i in range(8):
            if accumulator == "f16":
                value = decode("f16", int(done.results[i // 2][lane]) >> (16 * (i % 2)) & 0xFFFF)
                assert value == product[lane % 4 + upper, i]
            else:
                row, column = (lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)
                assert decode("f32", int(done.results[i][lane])) == product[row, column]


_WMMA = [
    ("m16n16k16", "f16", "f32.f32", "f32"),
    ("m16n16k16", "f16", "f16.f16", "f16"),
    ("m32n8k16", "f16", "f32.f32", "f32"),
    ("m8n32k16", "bf16", "bf16", "f32"),
    ("m16n16k8", "tf32", "tf32", "f32"),
    ("m16n16k16", "s8", "s8", "s32"),
    ("m32n8k16", "u8", "u8", "s32"),
    ("m8n8k32", "s4", "s4", "s32"),
    ("m8n8k128", "b1", "b1", "s32"),
    ("m8n8k4", "f64", "f64", "f64"),
]


def _in_memory(matrix: Matrix, type_: str, layout: str, stride: int) -> NDArray[np.uint8]:
    rows = matrix if layout == "row" else matrix.T
    bits = np.zeros(rows.shape[0] * stride * BITS[type_], np.uint8)
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            encoded = encode(type_, float(value))
            at = (i * stride + j) * BITS[type_]
            bits[at : at + BITS[type_]] = [encoded >> place & 1 for place in range(BITS[type_])]
    return np.packbits(bits, bitorder="little")


@pytest.mark.parametrize(("shape", "element", "product", "accumulator"), _WMMA)
@pytest.mark.parametrize("layout", ["row", "col"])
def test_wmma(
    library: ctypes.CDLL, shape: str, element: str, product: str, accumulator: str, layout: str
) -> None:
    """load, mma and store together, whose fragments are nobody else's matter."""
    m, n, k = (
        int(part) for part in shape.replace("m", "").replace("n", " ").replace("k", " ").split()
    )
    if element in ("s4", "b1"):
        layout = "fixed"  # a by rows and b by columns only
    layouts = ("row", "col") if layout == "fixed" else (layout, layout)
    rng = np.random.default_rng(5)
    matrices = {"a": random_matrix(rng, element, (m, k)), "b": random_matrix(rng, element, (k, n))}
    matrices["c"] = random_matrix(rng, accumulator, (m, n))
    fragments: list[Array] = []
    kept: list[Array] = []
    for role, order in (("a", layouts[0]), ("b", layouts[1]), ("c", "row")):
        type_ = accumulator if role == "c" else element
        stride = matrices[role].shape[1 if order == "row" else 0] + (0 if element == "b1" else 16)
        memory = _in_memory(matrices[role], type_, order, stride)
        kept.append(memory)
        load = operation(f"llvm.nvvm.wmma.{shape}.load.{role}.{order}.stride.{type_}.p0")
        assert load is not None
        elements = matrices[role].size // 32
        width = 8 if type_ == "f64" else 4
        registers = (
            8 if type_ == "f16" and role != "c" else max(1, elements * BITS[type_] // (8 * width))
        )
        word = np.dtype(np.uint64 if width == 8 else np.uint32)
        pointers = np.full(32, memory.ctypes.data, np.uint64)
        done = perform(
            library,
            load.function,
            [pointers, np.full(32, stride, np.uint32)],
            [word] * registers,
            load.parameters,
        )
        fragments += done.results
    bits = ".xor.popc" if element == "b1" else ""
    mma = operation(f"llvm.nvvm.wmma.{shape}.mma{bits}.row.col.{product}")
    assert mma is not None
    word = np.dtype(np.uint64 if accumulator == "f64" else np.uint32)
    count = m * n // 32 * BITS[accumulator] // (8 * word.itemsize)
    done = perform(library, mma.function, fragments, [word] * count, mma.parameters)
    store = operation(f"llvm.nvvm.wmma.{shape}.store.d.col.stride.{accumulator}.p0")
    assert store is not None
    raw = np.zeros((n, m), f"u{BITS[accumulator] // 8}")
    pointers = np.full(32, raw.ctypes.data, np.uint64)
    perform(
        library,
        store.function,
        [pointers, *done.results, np.full(32, m, np.uint32)],
        [],
        store.parameters,
    )
    given = np.array([[decode(accumulator, int(value)) for value in row] for row in raw]).T
    expected = matrices["c"] + matrices["a"] @ matrices["b"]
    if element == "b1":
        a, b = matrices["a"], matrices["b"]
        expected = matrices["c"] + np.logical_xor(a[:, :, None], b[None, :, :]).sum(axis=1)
    np.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("trans", [False, True])
def test_ldmatrix_and_stmatrix(library: ctypes.CDLL, count: int, trans: bool) -> None:
    suffix = f"matrix.sync.aligned.m8n8.x{count}{'.trans' if trans else ''}.b16.p3"
    load, store = operation(f"llvm.nvvm.ld{suffix}"), operation(f"llvm.nvvm.st{suffix}")
    assert load is not None
    assert store is not None
    memory = np.arange(4 * 8 * 8, dtype=np.uint16).reshape(4, 8, 8)
    rows = np.array([memory[lane // 8, lane % 8].ctypes.data for lane in range(32)], np.uint64)
    word = np.dtype(np.uint32)
    done = perform(library, load.function, [rows], [word] * count, load.parameters)
    for i in range(count):
        matrix = memory[i].T if trans else memory[i]
        for lane in range(32):
            low, high = matrix[lane // 4, lane % 4 * 2 : lane % 4 * 2 + 2]
            assert done.results[i][lane] == int(low) | int(high) << 16
    copy = np.zeros_like(memory)
    rows = np.array([copy[lane // 8, lane % 8].ctypes.data for lane in range(32)], np.uint64)
    perform(library, store.function, [rows, *done.results], [], store.parameters)
    np.testing.assert_array_equal(copy[:count], memory[:count])
    assert not copy[count:].any()

"""The printed text of numbers and memrefs, which is that of MLIR's runner utilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Library

_CALLS = [
    ("printI64(c.c_int64(-5))", "-5"),
    ("printU64(c.c_uint64(2**64 - 1))", "18446744073709551615"),
    ("printIndex(c.c_int64(12))", "12"),
    ("printF32(c.c_float(0.1))", "0.1"),
    ("printF32(c.c_float(1234567.0))", "1.23457e+06"),
    ("printF64(c.c_double(1e-7))", "1e-07"),
    ("printF64(c.c_double(float('-inf')))", "-inf"),
    ("printF16(0x3555)", "0.333252"),
    ("printF16(c.c_uint(0xABCD0001))", "5.96046e-08"),  # rubbish above the sixteen bits
    ("printBF16(c.c_uint(0x7FFF4049))", "3.14062"),
    ("printString(b'a%d')", "a%d"),
    ("printOpen(); lib.printComma(); lib.printClose(); lib.printNewline()", "( ,  )\n"),
]


@pytest.mark.parametrize(("call", "text"), _CALLS)
def test_single_values(library: Library, call: str, text: str) -> None:
    assert library.run(f"lib.{call}").stdout == text


@pytest.mark.parametrize(
    ("function", "dtype", "padding"), [("printF16", "e", b""), ("printBF16", "f", b"\0\0")]
)
def test_every_16_bit_float(library: Library, function: str, dtype: str, padding: bytes) -> None:
    done = library.run(
        "import struct",
        "for bits in range(1 << 16):",
        f"    lib.{function}(bits); lib.printNewline()",
        "import sys; out = sys.stderr",
        "for bits in range(1 << 16):",
        f"    value, = struct.unpack('<{dtype}', {padding} + bits.to_bytes(2, 'little'))",
        "    text = '%g' % value",
        "    print('-nan' if text == 'nan' and bits >> 15 else text, file=out)",
    )
    assert done.stdout.count("\n") == 1 << 16
    assert done.stdout == done.stderr


# Element type in C's struct letters, values, and what prints.
_MATRIX = [
    ("F32", "f", (1, 2.5, 3, -4, 0.1, 6), "[[1,   2.5,   3], \n [-4,   0.1,   6]]"),
    ("F64", "d", (1, 2, 3, 4, 5, 1e300), "[[1,   2,   3], \n [4,   5,   1e+300]]"),
    ("I8", "b", (1, 2, 3, 4, 65, -6), "[[1,   2,   3], \n [4,   65,   -6]]"),
    ("I16", "h", (1, 2, 3, 4, 5, -6), "[[1,   2,   3], \n [4,   5,   -6]]"),
    ("I32", "i", (1, 2, 3, 4, 5, -6), "[[1,   2,   3], \n [4,   5,   -6]]"),
    ("I64", "q", (1, 2, 3, 4, 5, 2**60), "[[1,   2,   3], \n [4,   5,   1152921504606846976]]"),
    ("Ind", "Q", (1, 2, 3, 4, 5, 6), "[[1,   2,   3], \n [4,   5,   6]]"),
    ("F16", "e", (1, 2, 3, 4, 5, -0.5), "[[1,   2,   3], \n [4,   5,   -0.5]]"),
    ("BF16", "H", (0x3F80,) * 5 + (0xC040,), "[[1,   1,   1], \n [1,   1,   -3]]"),
]


def _memref(letters: str, values: tuple[float, ...], sizes: str, strides: str) -> list[str]:
    """Statements that make `descriptor`, whose offset is 2, and `unranked`."""
    rank = len(eval(f"({sizes})"))
    return [
        "import struct",
        f"data = c.create_string_buffer(struct.pack('<{len(values) + 2}{letters}', "
        f"0, 0, *{values!r}))",
        "at = c.addressof(data)",
        f"numbers = (at, at, 2, *({sizes}), *({strides}))",
        "descriptor = (c.c_int64 * len(numbers))(*numbers)",
        f"unranked = (c.c_int64 * 2)({rank}, c.addressof(descriptor))",
        "import sys; sys.stderr.write(hex(at))",
    ]


@pytest.mark.parametrize(("name", "letters", "values", "data"), _MATRIX)
def test_a_matrix_of_each_type(
    library: Library, name: str, letters: str, values: tuple[float, ...], data: str
) -> None:
    done = library.run(
        *_memref(letters, values, "2, 3", "3, 1"),
        f"lib._mlir_ciface_printMemref{name}(unranked)",
        f"lib.printMemref{name}(c.c_int64(2), descriptor)",
        f"lib._mlir_ciface_printMemrefShape{name}(unranked)",
        f"lib.printMemrefShape{name}(c.c_int64(2), descriptor)",
    )
    shape = (
        f"Unranked Memref base@ = {done.stderr} rank = 2 offset = 2 sizes = [2, 3] strides = [3, 1]"
    )
    assert done.stdout == f"{shape} data = \n{data}\n" * 2 + f"{shape}\n" * 2


@pytest.mark.parametrize(
    ("sizes", "strides", "data"),
    [
        ("", "", "[1]"),
        ("4,", "1,", "[1,  2,  3,  4]"),
        ("1,", "1,", "[1]"),
        ("2, 2", "1, 2", "[[1,   3], \n [2,   4]]"),
        ("2, 1", "2, 1", "[[1], \n [3]]"),
        ("3, 1, 2", "0, 0, 3", "[[[1,    4]], \n [[1,    4]], \n [[1,    4]]]"),
        ("2, 2, 1", "2, 1, 1", "[[[1], \n  [2]], \n [[3], \n  [4]]]"),
        ("0,", "1,", "[]"),
        ("2, 0", "0, 1", "[[], \n []]"),
    ],
)
def test_shapes(library: Library, sizes: str, strides: str, data: str) -> None:
    done = library.run(
        *_memref("f", (1, 2, 3, 4), sizes, strides),
        f"lib.printMemrefF32(c.c_int64({len(eval(f'({sizes})'))}), descriptor)",
    )
    assert done.stdout.split(" data = \n")[1] == data + "\n"


def test_ranked_and_complex(library: Library) -> None:
    done = library.run(
        *_memref("f", (1, 2, 3, -4, 5, 6), "2,", "1,"),
        "lib._mlir_ciface_printMemref1dF32(descriptor)",
        "descriptor[2] = 1",
        "lib._mlir_ciface_printMemref1dC32(descriptor)",
    )
    shape = (
        f"Memref base@ = {done.stderr} rank = 1 offset = {{}} sizes = [2] strides = [1] data = \n"
    )
    assert done.stdout == f"{shape.format(2)}[1,  2]\n{shape.format(1)}[(1,2),  (3,-4)]\n"


def test_a_null_base(library: Library) -> None:
    done = library.run(
        "lib.printMemrefShapeF32(c.c_int64(1), (c.c_int64 * 5)(0, 0, 0, 0, 1))",
    )
    assert (
        done.stdout == "Unranked Memref base@ = 0 rank = 1 offset = 0 sizes = [0] strides = [1]\n"
    )


def test_rates_and_times(library: Library) -> None:
    done = library.run(
        "import time; lib.rtclock.restype = c.c_double; lib.nanoTime.restype = c.c_int64",
        "print(abs(lib.rtclock() - time.time()) < 5, abs(lib.nanoTime() - time.time_ns()) < 5e9)",
        "lib.printFlops(c.c_double(2.5e9))",
    )
    assert (done.stdout, done.stderr) == ("True True\n", "2.500000 GFLOPS\n")

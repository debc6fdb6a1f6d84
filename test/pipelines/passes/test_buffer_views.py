"""Views and copies of host code whose sizes do not hold are told, with their line, when it runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.program_command import build

_OPEN = "memref<?x?xf32, strided<[?, ?], offset: ?>>"
_LINE = "memref<?xf32, strided<[?], offset: ?>>"
# What a case does with numbers, and these:
_OPERANDS = {
    "%x": "memref.reinterpret_cast %all to offset: [%c3], sizes: [%a, %b], strides: [%c, %c1] : "
    f"memref<64xf32> to {_OPEN}",
    "%u": "memref.cast %v : memref<?xf32> to memref<*xf32>",
    "%some": "memref.cast %sizes : memref<2xindex> to memref<?xindex>",
    "%o": "func.call @unranked(%v) : (memref<?xf32>) -> memref<*xf32>",
    "%w": "gpu.alloc (%b) : memref<?xf32>",
}
_BODIES = {
    "size": "memref.cast %v : memref<?xf32> to memref<4xf32>",
    "stride": f"memref.cast %x : {_OPEN} to memref<?x?xf32, strided<[8, 1], offset: ?>>",
    "offset": f"memref.cast %x : {_OPEN} to memref<?x?xf32, strided<[?, ?], offset: 2>>",
    "rank": "memref.cast %u : memref<*xf32> to memref<?x?xf32>",
    "unranked": "memref.cast %u : memref<*xf32> to memref<4xf32>",
    "slice": "memref.subview %v[%b] [%c] [2] : memref<?xf32> to "
    "memref<?xf32, strided<[2], offset: ?>>",
    "backward": "memref.subview %v[%b] [2] [%c] : memref<?xf32> to "
    "memref<2xf32, strided<[?], offset: ?>>",
    "corner": f"memref.subview %x[1, %c1] [1, 2] [1, 1] : {_OPEN} to "
    "memref<1x2xf32, strided<[?, ?], offset: ?>>",
    "expand": "memref.expand_shape %v [[0, 1]] output_shape [%b, %c] "
    ": memref<?xf32> into memref<?x?xf32>",
    "collapse": f"memref.collapse_shape %x [[0, 1]] : {_OPEN} into {_LINE}",
    "reshape": "memref.reshape %v(%sizes) : (memref<?xf32>, memref<2xindex>) -> memref<?x?xf32>",
    "known": "memref.reshape %v(%sizes) : (memref<?xf32>, memref<2xindex>) -> memref<?x2xf32>",
    "flat": "memref.reshape %v(%sizes) : (memref<?xf32>, memref<2xindex>) -> memref<*xf32>",
    "some": "memref.reshape %o(%some) : (memref<*xf32>, memref<?xindex>) -> memref<*xf32>",
    "dim": "memref.dim %v, %b : memref<?xf32>",
    "dims": "memref.dim %o, %b : memref<*xf32>",
    "reinterpret": "memref.reinterpret_cast %v to offset: [%b], sizes: [%c], strides: [2] "
    ": memref<?xf32> to memref<?xf32, strided<[2], offset: ?>>",
    "overflow": "memref.reinterpret_cast %v to offset: [0], sizes: [2, %b], strides: [%c, %c] "
    ": memref<?xf32> to memref<2x?xf32, strided<[?, ?]>>",
    "typed": "memref.view %bytes[%b][%c] : memref<?xi8> to memref<?x2xf32>",
    "copy": "memref.copy %v, %w : memref<?xf32> to memref<?xf32>",
    "transfer": "gpu.memcpy %v, %w : memref<?xf32>, memref<?xf32>",
}
_SIZE = "is not the 4 that its type says"
_SLICE = "memref.subview: the slice's offset, size and stride go beyond the size of dim"
_EXPAND = "memref.expand_shape: the sizes of dims 0, 1 do not make up the size of dim 0"
_MANY = "memref.reshape: the sizes are not of as many elements as the buffer has"
_DIM = "memref.dim: the axis is not the number of one of its 1 dims, which are numbered from 0"
_BEYOND = "memref.reinterpret_cast: it goes beyond the memory of its operand"
_BYTES = "memref.view: its bytes go beyond those of the operand"
_MOST = 2**63 - 1
# The body, %a, %b and %c, and what it says where they do not fit.
_CASES = [
    ("size", (4, 0, 0), ""),
    ("size", (3, 0, 0), f"memref.cast: the size of dim 0 {_SIZE}"),
    ("stride", (2, 3, 8), ""),
    ("stride", (1, 3, 5), ""),
    ("stride", (2, 3, 7), "memref.cast: the stride of dim 0 is not the 8 that its type says"),
    ("offset", (2, 3, 8), "memref.cast: the offset is not the 2 that its type says"),
    ("rank", (4, 0, 0), "memref.cast: the rank is not the 2 of its type"),
    ("unranked", (4, 0, 0), ""),
    ("unranked", (5, 0, 0), f"memref.cast: the size of dim 0 {_SIZE}"),
    ("slice", (10, 4, 3), ""),
    ("slice", (10, 10, 0), ""),
    ("slice", (10, 4, 4), _SLICE),
    ("slice", (10, -1, 1), _SLICE),
    ("slice", (10, 1, _MOST), _SLICE),
    ("backward", (5, 4, -4), ""),
    ("backward", (5, 4, -5), _SLICE),
    ("backward", (5, 4, 0), _SLICE),
    ("corner", (2, 3, 8), ""),
    ("corner", (1, 3, 8), f"{_SLICE} 0"),
    ("corner", (2, 2, 8), f"{_SLICE} 1"),
    ("expand", (12, 3, 4), ""),
    ("expand", (12, 5, 4), _EXPAND),
    ("expand", (12, -3, -4), _EXPAND),
    ("expand", (4, 2**62 + 1, 4), _EXPAND),
    ("expand", (0, 2**62, 0), ""),
    ("expand", (0, -4, 0), _EXPAND),
    ("collapse", (3, 4, 4), ""),
    ("collapse", (3, 0, 7), ""),
    ("collapse", (3, 4, 8), "memref.collapse_shape: the strides of dims 0, 1 do not make them one"),
    ("reshape", (12, 3, 4), ""),
    ("reshape", (12, 3, 5), _MANY),
    ("reshape", (12, -3, -4), _MANY),
    ("reshape", (4, 2**62 + 1, 4), _MANY),
    ("known", (12, 6, 2), ""),
    ("known", (12, 3, 4), "memref.reshape: size 1 is not the 2 that its type says"),
    ("flat", (12, 3, 4), ""),
    ("flat", (12, 3, 5), _MANY),
    ("some", (12, 3, 4), ""),
    ("some", (12, 3, 5), _MANY),
    ("some", (12, -3, -4), _MANY),
    ("some", (4, 2**62 + 1, 4), _MANY),
    ("some", (0, 2**62, 0), ""),
    ("some", (0, -4, 0), _MANY),
    ("dim", (4, 0, 0), ""),
    ("dim", (4, 1, 0), _DIM),
    ("dim", (4, -1, 0), _DIM),
    ("dims", (4, 0, 0), ""),
    ("dims", (4, 1, 0), "memref.dim: the axis is not the number of one of its dims"),
    ("reinterpret", (10, 4, 3), ""),
    ("reinterpret", (10, 99, 0), ""),
    ("reinterpret", (10, 4, 4), _BEYOND),
    ("reinterpret", (10, -1, 1), _BEYOND),
    ("reinterpret", (10, 0, -1), "memref.reinterpret_cast: the size of dim 0 is negative"),
    ("overflow", (10, 3, 3), ""),
    ("overflow", (10, 3, 4), _BEYOND),
    ("overflow", (10, 3, 2**62), _BEYOND),
    ("overflow", (10, 3, -1), _BEYOND),
    ("typed", (10, 2, 1), ""),
    ("typed", (10, 3, 1), _BYTES),
    ("typed", (10, 11, 0), _BYTES),
    ("typed", (10, -1, 1), _BYTES),
    ("typed", (10, 0, 2**61), _BYTES),
    ("typed", (10, 0, -1), _BYTES),
    ("copy", (4, 4, 0), ""),
    ("copy", (4, 3, 0), "memref.copy: the sizes of dim 0 are not the same"),
    ("transfer", (4, 4, 0), ""),
    ("transfer", (4, 5, 0), "gpu.memcpy: the sizes of dim 0 are not the same"),
]


def _text() -> str:
    cases = ""
    for place, body in enumerate(_BODIES.values()):
        made = "".join(f"{name} = {op}\n" for name, op in _OPERANDS.items() if name in body)
        result = "" if "cpy" in body or "copy" in body else "%r = "
        cases += f"case {place} {{\n{made}{result}{body}\nscf.yield\n}}\n"
    return f"""\
func.func @unranked(%x: memref<?xf32>) -> memref<*xf32> {{
  %y = memref.cast %x : memref<?xf32> to memref<*xf32>
  return %y : memref<*xf32>
}}
func.func @main(%which: index, %a: index, %b: index, %c: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %all = gpu.alloc () : memref<64xf32>
  %v = gpu.alloc (%a) : memref<?xf32>
  %bytes = memref.alloc(%a) : memref<?xi8>
  %sizes = memref.alloca() : memref<2xindex>
  memref.store %b, %sizes[%c0] : memref<2xindex>
  memref.store %c, %sizes[%c1] : memref<2xindex>
  scf.index_switch %which
  {cases}
  default {{
  }}
  return
}}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(_text(), tmp_path_factory.mktemp("views") / "views", "-O0")


@pytest.mark.parametrize(("body", "numbers", "message"), _CASES)
def test_a_view_that_is_none_is_told(
    program: Path, body: str, numbers: tuple[int, int, int], message: str
) -> None:
    which = list(_BODIES).index(body)
    given = [f"--input={number}" for number in (which, *numbers)]
    done = subprocess.run([program, *given], capture_output=True, text=True, timeout=60)
    assert message in done.stderr
    assert (done.returncode != 0, "views.mlir:" in done.stderr) == ((bool(message),) * 2), done

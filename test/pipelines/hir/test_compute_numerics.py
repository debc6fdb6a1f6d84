"""Where rounding, wrapping and conversions are easily wrong: compiled, against exact numbers."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from host_ir.element_values import DTYPES
from host_ir.libraries import library

# They share what is compiled, so one process runs them all.
pytestmark = pytest.mark.xdist_group("compute_numerics")


@dataclass(frozen=True)
class Case:
    """An operation on buffers of five elements, or as many as the inputs have."""

    name: str
    op: str
    elements: tuple[str, ...]
    inputs: tuple[tuple[float, ...], ...]
    output: str
    wanted: tuple[float, ...]
    attributes: str = ""

    @property
    def text(self) -> str:
        kinds = [f"memref<{len(row)}x{each}>" for row, each in self._rows()]
        kinds.append(f"memref<{len(self.wanted)}x{self.output}>")
        values = ", ".join(f"%x{number}" for number in range(len(kinds)))
        arguments = ", ".join(f"%x{number}: {kind}" for number, kind in enumerate(kinds))
        given = ", ".join(kinds)
        return (
            f'"hir.program"() ({{\n^bb0({arguments}):\n'
            f'  "hir.{self.op}"({values}) {{{self.attributes}}} : ({given}) -> ()\n'
            f'}}) {{sym_name = "{self.name}", function_type = ({given}) -> ()}} : () -> ()\n'
        )

    def tensors(self) -> list[torch.Tensor]:
        return [torch.tensor(row, dtype=DTYPES[each]) for row, each in self._rows()]

    def _rows(self) -> list[tuple[tuple[float, ...], str]]:
        return list(zip(self.inputs, self.elements, strict=True))


def _cast(source: str, target: str, number: float, wanted: float) -> Case:
    name = f"cast_{source}_{target}"
    return Case(name, "unary", (source,), ((number,),), target, (wanted,), 'kind = "cast"')


def _binary(kind: str, element: str, rows: list[tuple[int, int, int]]) -> Case:
    x, y, wanted = (tuple(row) for row in zip(*rows, strict=True))
    return Case(
        f"{kind}_{element}", "binary", (element,) * 2, (x, y), element, wanted, f'kind = "{kind}"'
    )


_TOP = 1 << 63

CASES = [
    # A little more than halfway between two numbers: rounding to f32 first forgets the little.
    _cast("i64", "bf16", (257 << 40) + 1, float(258 << 40)),
    _cast("i64", "f16", 2049 - 0, 2048.0),
    _cast("ui64", "bf16", (257 << 55) + 1, float(258 << 55)),
    _cast("i32", "tf32", (2049 << 19) - 1, float(2048 << 19)),
    _cast("f64", "bf16", 257 + 2.0**-30, 258.0),
    _cast("f64", "f16", 2049 + 2.0**-30, 2050.0),
    _cast("f64", "tf32", 1 + 2.0**-11 - 2.0**-40, 1.0),
    _cast("f64", "f8E5M2", 9 + 2.0**-30, 10.0),
    _cast("f32", "tf32", 1 + 2.0**-11, 1 + 2.0**-10),
    _cast("f32", "i8", -3.75, -3),
    _cast("f32", "ui8", 250.9, 250),
    _cast("i8", "ui32", -1, (1 << 32) - 1),
    _cast("ui8", "i32", 255, 255),
    _cast("i1", "f32", 1, 1.0),
    _cast("f16", "i1", 0.5, 1),
    _binary("div", "i8", [(-128, -1, -128), (7, -2, -3), (-7, 2, -3)]),
    _binary("floordiv", "i8", [(-128, -1, -128), (7, -2, -4), (-7, 2, -4), (6, -2, -3)]),
    _binary("mod", "i64", [(-(1 << 63), -1, 0), (7, -2, -1), (-7, 2, 1), (6, -2, 0)]),
    _binary("div", "ui64", [(_TOP + 7, 2, (_TOP + 7) // 2), (1, _TOP, 0)]),
    _binary("pow", "ui64", [(3, _TOP + 5, pow(3, _TOP + 5, 1 << 64)), (2, _TOP, 0), (0, 0, 1)]),
    _binary("pow", "i32", [(-1, -3, -1), (2, -1, 0), (1, -9, 1), (3, 21, 1870418611)]),
    _binary("max", "ui8", [(200, 100, 200)]),
    Case("fills", "set", ("f32",), ((2.5,),), "f16", (2.5,) * 3),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_exact_numbers(case: Case) -> None:
    compiled = library("".join(each.text for each in CASES))
    wanted = torch.tensor(case.wanted, dtype=DTYPES[case.output])
    out = torch.zeros_like(wanted)
    getattr(compiled, case.name)(*case.tensors(), out)
    assert out.tolist() == wanted.tolist()


_SCALARS = """
"hir.program"() ({
^bb0(%x: memref<3xf16>, %s: f64, %n: index, %y: memref<3xf16>, %z: memref<3xi8>):
  %tenth = arith.constant 0.1 : f64
  "hir.binary"(%x, %s, %y) {kind = "mul"} : (memref<3xf16>, f64, memref<3xf16>) -> ()
  "hir.binary"(%y, %tenth, %y) {kind = "add"} : (memref<3xf16>, f64, memref<3xf16>) -> ()
  "hir.set"(%n, %z) : (index, memref<3xi8>) -> ()
}) {sym_name = "main",
    function_type = (memref<3xf16>, f64, index, memref<3xf16>, memref<3xi8>) -> ()} : () -> ()
"""


def test_scalars_take_the_buffers_element_type() -> None:
    x = torch.tensor([1000.0, 3.0, 0.5], dtype=torch.float16)
    y, z = torch.zeros_like(x), torch.zeros(3, dtype=torch.int8)
    library(_SCALARS).main(x, 1.0 / 3.0, 300, y, z)
    third, tenth = (torch.tensor(value, dtype=torch.float16).float() for value in (1 / 3, 0.1))
    product = (x.float() * third).half()
    assert torch.equal(y, (product.float() + tenth).half())
    assert z.tolist() == [44, 44, 44]


_SUMS = """
"hir.program"() ({
^bb0(%x: memref<4096xf16>, %y: memref<f16>):
  "hir.reduce"(%x, %y) {kind = "sum", axes = array<i64: 0>} : (memref<4096xf16>, memref<f16>) -> ()
}) {sym_name = "main", function_type = (memref<4096xf16>, memref<f16>) -> ()} : () -> ()
"""


def test_sums_of_small_floats_are_rounded_once() -> None:
    y = torch.zeros((), dtype=torch.float16)
    library(_SUMS).main(torch.ones(4096, dtype=torch.float16), y)
    # In f16, adding 1 to 2048 changes nothing.
    assert y.item() == 4096

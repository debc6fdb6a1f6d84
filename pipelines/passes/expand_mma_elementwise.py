"""expand-mma-elementwise: arithmetic on warp matrices, on the registers of their fragments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ...dialects.mlir import arith, ir, llvm, vector
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..rewriting import constant, rewrite_each

_OPERATION = "gpu.subgroup_mma_elementwise"
_MATRIX = re.compile(r'!gpu\.mma_matrix<(\d+)x(\d+)x(\w+), "(\w+)">')

# The shapes of wmma (PTX ISA, "Matrix Fragments for WMMA"): rows and columns of A, B and C.
_WIDE: dict[str, tuple[tuple[int, int], ...]] = {
    "AOp": ((16, 16), (32, 16), (8, 16)),
    "BOp": ((16, 16), (16, 8), (16, 32)),
    "COp": ((16, 16), (32, 8), (8, 32)),
}
_SHAPES = {
    **{("f16", use): shapes for use, shapes in _WIDE.items()},
    **{(kind, use): _WIDE[use] for kind in ("si8", "ui8") for use in ("AOp", "BOp")},
    ("f32", "COp"): _WIDE["COp"],
    ("i32", "COp"): _WIDE["COp"],
    # As tf32.
    ("f32", "AOp"): ((16, 8),),
    ("f32", "BOp"): ((8, 16),),
    ("f64", "AOp"): ((8, 4),),
    ("f64", "BOp"): ((4, 8),),
    ("f64", "COp"): ((8, 8),),
}
_LANES = 32
_FLOATS, _INTEGERS = ("f16", "f32", "f64"), ("si8", "ui8", "i32")
# NaN where an operand is one, as upstream's own lowering has it.
_BINARY: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "addf": (arith.addf, _FLOATS),
    "mulf": (arith.mulf, _FLOATS),
    "subf": (arith.subf, _FLOATS),
    "divf": (arith.divf, _FLOATS),
    "maxf": (arith.maximumf, _FLOATS),
    "minf": (arith.minimumf, _FLOATS),
    "addi": (arith.addi, _INTEGERS),
    "muli": (arith.muli, _INTEGERS),
    "subi": (arith.subi, _INTEGERS),
    "divs": (arith.divsi, _INTEGERS),
    "divu": (arith.divui, _INTEGERS),
}


def _negated(value: ir.Value) -> ir.Value:
    return arith.subi(constant(value.type, 0), value)


_UNARY: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "negatef": (arith.negf, _FLOATS),
    "negates": (_negated, _INTEGERS),
}


@register
@dataclass(frozen=True)
class ExpandMmaElementwise(Pass):
    """Computes gpu.subgroup_mma_elementwise on the registers that a lane holds of its matrices.

    Every kind, on every fragment that wmma has; a sum of bytes is one of four in a register. `extf`
    takes an f16 accumulator to an f32 one, whose lanes hold the same elements. Operands that do not
    fit the kind are an error; upstream's own lowering ends the process.

      %c = gpu.subgroup_mma_elementwise maxf %a, %b : (M, M) -> M
    becomes, for each register,
      %x = llvm.extractvalue %fragment_a[0] : !llvm.struct<(vector<2xf16>, ...)>
      %y = llvm.extractvalue %fragment_b[0] : !llvm.struct<(vector<2xf16>, ...)>
      %z = arith.maximumf %x, %y : vector<2xf16>
    """

    name: ClassVar[str] = "expand-mma-elementwise"
    subjects: ClassVar[tuple[str, ...]] = (_OPERATION,)

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {_OPERATION: _expand})


@dataclass(frozen=True)
class _Fragment:
    """What a lane holds of a matrix: registers, and what lies in each."""

    element: str
    use: str
    shape: tuple[int, int]

    @property
    def is_valid(self) -> bool:
        return self.shape in _SHAPES.get((self.element, self.use), ())

    @property
    def count(self) -> int:
        """The number of registers."""
        held = self.shape[0] * self.shape[1] // _LANES
        if self.element == "f16":
            # An operand's elements are all held twice over.
            return 8 if self.use != "COp" else held // 2
        return held // 4 if self.element in ("si8", "ui8") else held

    @property
    def register(self) -> ir.Type:
        if self.element == "f16":
            return ir.VectorType.get([2], ir.F16Type.get())
        if self.element == "f64":
            return ir.F64Type.get()
        if self.element == "f32" and self.use == "COp":
            return ir.F32Type.get()
        return ir.IntegerType.get_signless(32)

    @property
    def content(self) -> ir.Type:
        """The register's type for arithmetic."""
        if self.element in ("si8", "ui8"):
            return ir.VectorType.get([4], ir.IntegerType.get_signless(8))
        return ir.F32Type.get() if self.element == "f32" else self.register

    @property
    def type(self) -> ir.Type:
        if self.element == "f64" and self.use != "COp":
            return self.register
        return ir.Type.parse(f"!llvm.struct<({', '.join([str(self.register)] * self.count)})>")

    def read(self, matrix: ir.Value) -> list[ir.Value]:
        """Returns the registers' contents."""
        whole = _cast(matrix, self.type)
        if self.type == self.register:
            return [whole]
        positions = map(ir.DenseI64ArrayAttr.get, ([at] for at in range(self.count)))
        registers = [llvm.extractvalue(self.register, whole, at) for at in positions]
        return [_bits(each, self.content) for each in registers]

    def write(self, contents: Sequence[ir.Value], matrix: ir.Type) -> ir.Value:
        """Returns the matrix of these contents."""
        registers = [_bits(each, self.register) for each in contents]
        if self.type == self.register:
            return _cast(registers[0], matrix)
        whole: ir.Value = llvm.mlir_poison(self.type)
        for at, each in enumerate(registers):
            whole = llvm.insertvalue(whole, each, ir.DenseI64ArrayAttr.get([at]))
        return _cast(whole, matrix)


def _fragment(op: ir.Operation, kind: ir.Type) -> _Fragment:
    match = _MATRIX.fullmatch(str(kind))
    assert match is not None, kind
    fragment = _Fragment(match[3], match[4], (int(match[1]), int(match[2])))
    if not fragment.is_valid:
        fail(op, f"no wmma operation of a chip has a matrix of type {kind}")
    return fragment


def _expand(op: ir.Operation) -> Sequence[ir.Value]:
    kind = _kind(op)
    result = _fragment(op, op.results[0].type)
    operands = [_fragment(op, operand.type) for operand in op.operands]
    if kind == "extf":
        wanted = [_Fragment("f16", "COp", result.shape)]
        if operands != wanted or (result.element, result.use) != ("f32", "COp"):
            fail(op, "extf takes an f16 matrix of use COp to an f32 one of the same shape and use")
        return [result.write(_extended(operands[0].read(op.operands[0])), op.results[0].type)]
    emit, elements = (_BINARY | _UNARY)[kind]
    count = 2 if kind in _BINARY else 1
    if len(operands) != count:
        fail(op, f"{kind} takes {count} operand{'s' * (count > 1)}, not {len(operands)}")
    if any(operand != result for operand in operands):
        fail(op, f"{kind} takes and gives matrices of one type")
    if result.element not in elements:
        what = "floats" if elements is _FLOATS else "integers"
        fail(op, f"{kind} is for matrices of {what}, not of {result.element}")
    lines = zip(
        *(each.read(operand) for each, operand in zip(operands, op.operands, strict=True)),
        strict=True,
    )
    return [result.write([emit(*line) for line in lines], op.results[0].type)]


def _kind(op: ir.Operation) -> str:
    found = re.search(r"(\w+)>?$", str(op.attributes["opType"]))
    assert found is not None
    return found[1]


def _extended(registers: Sequence[ir.Value]) -> list[ir.Value]:
    """Pairs of f16 as single f32."""
    pair = ir.VectorType.get([2], ir.F32Type.get())
    wide = [arith.extf(pair, each) for each in registers]
    return [vector.extract(each, [], [at]) for each in wide for at in (0, 1)]


def _bits(value: ir.Value, kind: ir.Type) -> ir.Value:
    return value if value.type == kind else llvm.bitcast(kind, value)


def _cast(value: ir.Value, target: ir.Type) -> ir.Value:
    cast = ir.Operation.create("builtin.unrealized_conversion_cast", [target], [value])
    return cast.result

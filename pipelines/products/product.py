"""A matrix product on buffers: what hir.library_matmul says of it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntFlag

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..generics import Mapped, map_of

# What stands in `dims` for a dim that no loop indexes.
NO_LOOP = -1


class LoopKind(IntFlag):
    """The operands that a loop indexes."""

    FIRST = 1
    SECOND = 2
    RESULT = 4
    M = FIRST | RESULT
    N = SECOND | RESULT
    K = FIRST | SECOND
    BATCH = FIRST | SECOND | RESULT


@dataclass(frozen=True)
class Indexed:
    """A buffer and the loop that indexes each of its dims, NO_LOOP where none does."""

    value: ir.Value
    dims: tuple[int, ...]

    @property
    def type(self) -> ir.ShapedType:
        return ir.ShapedType(self.value.type)

    @property
    def element(self) -> str:
        return str(self.type.element_type)


@dataclass(frozen=True)
class Product:
    """Sums of products of two buffers' elements, put into a third.

    `is_tf32` says that the operands' elements, which are f32, have no more digits than tf32;
    `accumulates` that the sums are added to what is there. An `addend` has an element for each of
    the result, which is added too. `activation` is one of hir.library_matmul's, or empty.
    `is_reduction` says that it is written with hir.reduce_loops.
    """

    first: Indexed
    second: Indexed
    result: Indexed
    bias: Indexed | None = None
    addend: Indexed | None = None
    activation: str = ""
    accumulates: bool = False
    is_tf32: bool = False
    is_reduction: bool = False

    @property
    def matrices(self) -> tuple[Indexed, Indexed, Indexed]:
        return self.first, self.second, self.result

    @property
    def inputs(self) -> list[Indexed]:
        """What is read, in the order in which an operation has it."""
        added = (self.bias, self.addend)
        return [self.first, self.second, *(each for each in added if each is not None)]

    @property
    def loops(self) -> int:
        return 1 + max((loop for each in self.matrices for loop in each.dims), default=-1)

    def kind(self, loop: int) -> LoopKind:
        """Returns the operands that a loop indexes."""
        bits = [kind for kind, each in _bits(self.matrices) if loop in each.dims]
        return LoopKind(sum(bits))

    @property
    def is_contraction(self) -> bool:
        """Whether each loop indexes two of the matrices, or all."""
        kinds = (LoopKind.M, LoopKind.N, LoopKind.K, LoopKind.BATCH)
        return all(self.kind(loop) in kinds for loop in range(self.loops))

    @property
    def summed(self) -> list[int]:
        """The loops over the terms of sums."""
        return [loop for loop in range(self.loops) if self.kind(loop) == LoopKind.K]

    def mapped(self, operand: Indexed) -> Mapped:
        """Returns a buffer or tensor and the loops that index it."""
        places = [None if loop == NO_LOOP else loop for loop in operand.dims]
        return operand.value, map_of(self.loops, places)

    def size(self, loop: int) -> int:
        """Returns the iterations of a loop, DYNAMIC where no type says them."""
        for each in self.matrices:
            for size, own in zip(each.type.shape, each.dims, strict=True):
                if own == loop and size != DYNAMIC:
                    return size
        return DYNAMIC


def indexed_by(value: ir.Value, map_: ir.AffineMap) -> Indexed | None:
    """Returns a buffer that a map indexes, where that takes each loop once at most and nothing
    else.
    """
    dims: list[int] = []
    for axis, expression in enumerate(map_.results):
        if isinstance(expression, ir.AffineDimExpr):
            dims.append(ir.AffineDimExpr(expression).position)
        elif _is_zero(expression) and ir.ShapedType(value.type).shape[axis] == 1:
            dims.append(NO_LOOP)
        else:
            return None
    loops = [loop for loop in dims if loop != NO_LOOP]
    return Indexed(value, tuple(dims)) if len(set(loops)) == len(loops) else None


def _is_zero(expression: ir.AffineExpr) -> bool:
    return (
        isinstance(expression, ir.AffineConstantExpr)
        and ir.AffineConstantExpr(expression).value == 0
    )


def _bits(matrices: Sequence[Indexed]) -> list[tuple[LoopKind, Indexed]]:
    return list(zip((LoopKind.FIRST, LoopKind.SECOND, LoopKind.RESULT), matrices, strict=True))


def emit_call(product: Product, *, allow_tf32: bool) -> None:
    """hir.library_matmul at the insertion point."""
    first, second, *added = product.inputs
    operands = [first, second, product.result, *added]
    if product.accumulates:
        operands.append(product.result)
    compute = "f64" if product.first.element == "f64" else "f32"
    if product.is_tf32 or (allow_tf32 and product.first.element == "f32"):
        compute = "tf32"
    attributes: dict[str, ir.Attribute] = {
        "compute": ir.StringAttr.get(compute),
        "dims": ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get(list(each.dims)) for each in operands]),
    }
    adds = product.accumulates or product.addend is not None
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(
        [1, 1, 1, int(product.bias is not None), int(adds)]
    )
    if product.activation:
        attributes["activation"] = ir.StringAttr.get(product.activation)
    ir.Operation.create(
        "hir.library_matmul",
        operands=[each.value for each in operands],
        attributes=attributes,
    )

"""What a product in f32 reads before it was extended from f16 or bf16.

A product of two such elements is exact in f32, so that products of what is extended, and of the
elements as they were, are the same.
"""

from __future__ import annotations

from ...dialects.mlir import indexing_maps, ir
from ...dialects.records import dataclass
from ..tensors import unwritten

_NARROW = ("f16", "bf16")
_MOVES = (
    "linalg.broadcast",
    "linalg.transpose",
    "tensor.cast",
    "tensor.collapse_shape",
    "tensor.expand_shape",
    "tensor.extract_slice",
)


@dataclass(frozen=True)
class Narrow:
    """A tensor before it was extended to f32, and what moved its elements after that."""

    source: ir.Value
    moves: tuple[ir.Operation, ...]

    @property
    def element(self) -> ir.Type:
        """The type of its elements."""
        return ir.RankedTensorType(self.source.type).element_type

    def emit(self) -> ir.Value:
        """Emits the same moves of the elements as they were; gives the tensor they end in."""
        value = self.source
        for op in self.moves:
            operands = [value, *list(op.operands)[1:]]
            if op.name.startswith("linalg."):
                operands[1] = unwritten(op.operands[1], self.element)
            value = _clone(op, operands, self.element)
        return value


def find_narrow(value: ir.Value) -> Narrow | None:
    """Returns what a tensor in f32 was before it was extended from f16 or bf16; else None."""
    moves: list[ir.Operation] = []
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if _extends(op):
            return Narrow(op.operands[0], tuple(reversed(moves)))
        if op.name not in _MOVES:
            break
        moves.append(op)
        value = op.operands[0]
    return None


def _extends(op: ir.Operation) -> bool:
    """Returns whether an operation gives the elements of a narrow tensor in f32,
    each in its place.
    """
    if op.name != "linalg.generic" or len(op.operands) != 2 or len(op.results) != 1:
        return False
    read, written = indexing_maps(op)
    if read != written or read != ir.AffineMap.get_identity(read.n_dims):
        return False
    first, *rest = [each.operation for each in op.regions[0].blocks[0]]
    return (
        first.name == "arith.extf"
        and len(rest) == 1
        and list(rest[0].operands) == list(first.results)
        and first.operands[0] == op.regions[0].blocks[0].arguments[0]
        and _is_narrow(op.operands[0].type)
        and _element(op.results[0].type) == "f32"
    )


def _is_narrow(kind: ir.Type) -> bool:
    return isinstance(kind, ir.RankedTensorType) and _element(kind) in _NARROW


def _element(kind: ir.Type) -> str:
    return str(ir.ShapedType(kind).element_type)


def _clone(op: ir.Operation, operands: list[ir.Value], element: ir.Type) -> ir.Value:
    new = ir.Operation.create(
        op.name,
        results=[_with(op.results[0].type, element)],
        operands=operands,
        attributes={name: op.attributes[name] for name in op.attributes},
        regions=len(list(op.regions)),
        loc=op.location,
    )
    for region in new.regions:
        block = region.blocks.append(element, element)
        with ir.InsertionPoint(block):
            ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
    return new.results[0]


def _with(kind: ir.Type, element: ir.Type) -> ir.RankedTensorType:
    return ir.RankedTensorType.get(ir.RankedTensorType(kind).shape, element)

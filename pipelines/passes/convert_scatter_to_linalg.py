"""convert-scatter-to-linalg: tm_tensor.scatter, torch-mlir's writes to computed places."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from ...dialects.mlir import arith, cf, ir
from ...dialects.records import dataclass
from ..fusion.kinds import combination
from ..fusion.scatters import read_scattered
from ..generics import each_of, emit_generic, loop_index, map_of
from ..pass_base import Pass, fail, register
from ..rewriting import index_constant
from ..tensors import size_of
from ..walking import operations_where

_SCATTER = "tm_tensor.scatter"


@register
@dataclass(frozen=True)
class ConvertScatterToLinalg(Pass):
    """Turns tm_tensor.scatter into a linalg.generic over the updates, with hir.scatter.

    What is combined in fewer than 32 bits is so in f32 or i32, and rounded in the end; but sums of
    16 bits are rounded after each addition, as torch's are, where there are no more updates than
    elements, one for each on average. That places are in range is asserted. One into a
    linalg.transpose is one into what that transposes, whose elements then stay where they are; the
    result is transposed instead.

      %y = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
          ins(%u, %i : tensor<?x1x4xf32>, tensor<?x1xi64>) outs(%x : tensor<?x4xf32>) { addf }
    becomes
      %y = linalg.generic ... ins(%u, %i) outs(%x : tensor<?x4xf32>) {
      ^bb0(%value: f32, %place: i64, %begun: f32):
        %index = arith.index_cast %place : i64 to index
        ... cf.assert
        %r = "hir.scatter"(%begun, %value, %index, %column) {kind = "addf"}
        linalg.yield %r : f32
      }
    """

    name: ClassVar[str] = "convert-scatter-to-linalg"

    def run(self, op: ir.Operation) -> None:
        for work in operations_where(op, lambda inner: inner.name == _SCATTER):
            with work.location, ir.InsertionPoint(work):
                result = _converted(work)
            work.results[0].replace_all_uses_with(result)
            work.erase()


def _converted(work: ir.Operation) -> ir.Value:
    updates, indices, begun = work.operands
    kind, given = _combination(work)
    if 0 in ir.RankedTensorType(begun.type).shape:
        return begun
    order = _order(begun)
    if order is not None:
        assert not isinstance(begun.owner, ir.Block)
        begun = begun.owner.operation.operands[0]
        result = _combined(work, kind, given, updates, indices, begun, order)
        return _transposed(result, order)
    rank = ir.RankedTensorType(begun.type).rank
    return _combined(work, kind, given, updates, indices, begun, list(range(rank)))


def _order(begun: ir.Value) -> list[int] | None:
    """Returns the dim that each dim of a transposed tensor is, None of what is not transposed."""
    if isinstance(begun.owner, ir.Block) or begun.owner.operation.name != "linalg.transpose":
        return None
    return list(ir.DenseI64ArrayAttr(begun.owner.operation.attributes["permutation"]))


def _transposed(value: ir.Value, order: Sequence[int]) -> ir.Value:
    kind = ir.RankedTensorType(value.type)
    sizes = [size_of(value, axis) for axis in order if kind.is_dynamic_dim(axis)]
    wanted = ir.RankedTensorType.get([kind.shape[axis] for axis in order], kind.element_type)
    empty = ir.Operation.create("tensor.empty", [wanted], sizes).results[0]
    moved = ir.Operation.create(
        "linalg.transpose",
        [wanted],
        [value, empty],
        {"permutation": ir.DenseI64ArrayAttr.get(list(order))},
        regions=1,
    )
    location = moved.location
    elements = [kind.element_type] * 2
    block = moved.regions[0].blocks.append(*elements, arg_locs=[location] * 2)
    with ir.InsertionPoint(block):
        ir.Operation.create("linalg.yield", operands=[block.arguments[0]])
    return moved.results[0]


def _combined(
    work: ir.Operation,
    kind: str | None,
    given: ir.Value | None,
    updates: ir.Value,
    indices: ir.Value,
    begun: ir.Value,
    order: Sequence[int],
) -> ir.Value:
    element = ir.RankedTensorType(begun.type).element_type
    is_own = kind is None or (kind == "addf" and given is None and _are_few(updates, begun))
    wide = element if is_own else _wide(element)
    if wide == element:
        return _scattered(work, kind, given, updates, indices, begun, order)
    result = _scattered(work, kind, given, updates, indices, _cast(begun, wide), order)
    return _cast(result, element)


def _are_few(updates: ir.Value, begun: ir.Value) -> bool:
    """Returns whether floats of 16 bits are known to have no more updates than there are."""
    kinds = [ir.RankedTensorType(each.type) for each in (updates, begun)]
    if not all(kind.has_static_shape for kind in kinds):
        return False
    few, many = (prod(kind.shape) for kind in kinds)
    return isinstance(kinds[1].element_type, ir.F16Type | ir.BF16Type) and few <= many


def _combination(work: ir.Operation) -> tuple[str | None, ir.Value | None]:
    """Returns how an update is combined with what is there: by no kind where it takes its place.

    With it the value from outside that is combined in place of every update, if there is one.
    """
    block = work.regions[0].blocks[0]
    update, there = block.arguments
    yielded = list(block)[-1].operation.operands[0]
    if yielded == update:
        return None, None
    found = combination(yielded, there)
    if found is not None and found.value == update:
        return found.kind, None
    if found is None or _block_of(found.value) == block:
        fail(work, "a scatter writes, or combines by one operation of arith, such as arith.addf")
    return found.kind, found.value


def _block_of(value: ir.Value) -> ir.Block | None:
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def _wide(element: ir.Type) -> ir.Type:
    """Returns the type in which elements are combined."""
    if isinstance(element, ir.FloatType):
        return element if element.width >= 32 else ir.F32Type.get()
    if not isinstance(element, ir.IntegerType):
        return element
    return element if element.width >= 32 else ir.IntegerType.get_signless(32)


def _scattered(
    work: ir.Operation,
    kind: str | None,
    constant: ir.Value | None,
    updates: ir.Value,
    indices: ir.Value,
    begun: ir.Value,
    order: Sequence[int],
) -> ir.Value:
    """Returns the scatter into `begun`; dim k of where the places count is dim `order[k]` there."""
    target = ir.RankedTensorType(begun.type)
    read = read_scattered(updates, indices)
    axes = list(ir.DenseI64ArrayAttr(work.attributes["dimension_map"]))
    sizes = [size_of(begun, order[axis]) for axis in axes]
    reads = [read.update, *read.places]

    def scattered(elements: Sequence[ir.Value]) -> list[ir.Value]:
        value, *given, there = elements
        written = constant or value
        if written.type != there.type:
            name = _extension(there.type)
            written = ir.Operation.create(name, [there.type], [written]).results[0]
        places = _starts(read.windows, target.rank)
        for axis, size, number in zip(axes, sizes, given, strict=True):
            place = arith.index_cast(ir.IndexType.get(), number)
            if axis >= target.rank - len(read.windows):
                place = arith.addi(places[axis], place)
            is_within = arith.cmpi(arith.CmpIPredicate.ult, place, size)
            cf.AssertOp(is_within, f"scatter: an index is out of range for dim {axis}")
            places[axis] = place
        scatter = ir.Operation.create(
            "hir.scatter",
            results=[there.type],
            operands=[there, written, *(places[order.index(d)] for d in range(len(order)))],
            attributes={} if kind is None else {"kind": ir.StringAttr.get(kind)},
        )
        return list(scatter.results)

    inputs = [(each.value, each.map(read.loops)) for each in reads]
    output = (begun, map_of(read.loops, [None] * target.rank))
    return emit_generic(read.loops, (), inputs, [output], scattered).results[0]


def _starts(windows: Sequence[int | None], rank: int) -> list[ir.Value]:
    """Returns an update's place in the window that its index moves, which goes along
    the last dims.
    """
    within = [index_constant(0) if loop is None else loop_index(loop) for loop in windows]
    return [index_constant(0) for _ in range(rank - len(windows))] + within


def _cast(value: ir.Value, element: ir.Type) -> ir.Value:
    """Returns a tensor with its elements as those of another type, rounded where
    that is narrower.
    """
    name = _extension(element)
    if _wide(element) != element:
        name = "arith.truncf" if isinstance(element, ir.FloatType) else "arith.trunci"
    (made,) = each_of(
        [value], [element], lambda given: ir.Operation.create(name, [element], given).results
    )
    return made


def _extension(element: ir.Type) -> str:
    return "arith.extf" if isinstance(element, ir.FloatType) else "arith.extsi"

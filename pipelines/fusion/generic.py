"""Reading and making linalg.generic operations on tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import ir
from ..generics import bare_generic
from ..locations import location_text
from ..pass_base import fail
from .access import Access, access

GENERIC = "linalg.generic"
COLLECTIVE = ("hir.reduce_loops", "hir.find_loops", "hir.scan_loop")
# Marks what has reduction loops for collective operations only, so that it still says that no
# result depends on how many iterations they have when canonicalization has folded these away.
COLLECTIVE_MARK = "hir.collective"
# On an operation, the configuration that its kernel is to have; on a kernel, that which it has.
CONFIGURATION = "hir.configuration"


def inputs_of(op: ir.Operation) -> list[ir.Value]:
    """Returns the operands that a linalg operation only reads."""
    return list(op.operands)[: _input_count(op)]


def outs_of(op: ir.Operation) -> list[ir.Value]:
    """Returns the operands that a linalg operation's results begin as."""
    return list(op.operands)[_input_count(op) :]


def accesses_of(op: ir.Operation) -> list[Access]:
    """Returns what a linalg.generic reads and writes, one access an operand."""
    maps = ir.ArrayAttr(op.attributes["indexing_maps"])
    return [
        access(value, ir.AffineMapAttr(map_).value)
        for value, map_ in zip(op.operands, maps, strict=True)
    ]


def reducing_loops(op: ir.Operation) -> tuple[int, ...]:
    """Returns the loops of iterator type `reduction`."""
    kinds = str(op.attributes["iterator_types"]).split(",")
    return tuple(loop for loop, kind in enumerate(kinds) if "reduction" in kind)


def loop_count(op: ir.Operation) -> int:
    """Returns how many loops a linalg.generic has."""
    return len(ir.ArrayAttr(op.attributes["iterator_types"]))


def loop_extents(op: ir.Operation) -> dict[int, int]:
    """Returns how many iterations loops have that are places in a tensor by themselves."""
    return {
        loop: size
        for each in accesses_of(op)
        if isinstance(each.value.type, ir.RankedTensorType)
        for loop, size in zip(each.index, each.value.type.shape, strict=True)
        if isinstance(loop, int)
    }


def has_tensors_only(op: ir.Operation) -> bool:
    """Returns whether a linalg operation's outs are ranked tensors, and its results as many."""
    outs = outs_of(op)
    return len(op.results) == len(outs) > 0 and all(
        isinstance(value.type, ir.RankedTensorType) for value in outs
    )


_FLOAT_SUM = ("arith.mulf", "arith.addf", "linalg.yield")
_INTEGER_SUM = ("arith.muli", "arith.addi", "linalg.yield")
_INTEGER_EXTENSIONS = {"arith.extsi", "arith.extui"}
_FLOATS_OF_A_BYTE = {"f8E4M3FN", "f8E5M2"}


def sums_products(op: ir.Operation) -> bool:
    """Returns whether a linalg.generic adds products of two elements to its result, and no more."""
    names = [each.operation.name for each in op.regions[0].blocks[0]]
    *extensions, multiplied, added, end = names if len(names) in (3, 5) else [""] * 3
    return (extensions, (multiplied, added, end)) in (
        ([], _FLOAT_SUM),
        ([], _INTEGER_SUM),
        (["arith.extf"] * 2, _FLOAT_SUM),
    ) or ((multiplied, added, end) == _INTEGER_SUM and set(extensions) <= _INTEGER_EXTENSIONS)


def multiplies_bytes(op: ir.Operation) -> bool:
    """Returns whether two operands, tensors, have elements of 8 bits, and the result i32 or f32.

    hirc calls no library for such products.
    """
    kinds = [each.type for each in op.operands]
    if len(kinds) != 3 or not all(isinstance(each, ir.RankedTensorType) for each in kinds):
        return False
    first, second, result = (str(ir.RankedTensorType(each).element_type) for each in kinds)
    if result == "i32":
        return first == second == "i8"
    return result == "f32" and {first, second} <= _FLOATS_OF_A_BYTE


def make_generic(
    inputs: Sequence[Access],
    outputs: Sequence[Access],
    loops: int,
    reducing: Sequence[int],
    block: ir.Block,
    *,
    of: Sequence[ir.Operation],
) -> ir.Operation:
    """Returns a linalg.generic at the current insertion point whose region is `block`.

    An output's value is what its result begins as; the `reducing` loops are those that collective
    operations go along. It asks for the configuration that one `of` those asks for that it is made
    of; fails where they ask for several.
    """
    read, written = (
        [(each.value, each.map(loops)) for each in accesses] for accesses in (inputs, outputs)
    )
    op = bare_generic(loops, reducing, read, written)
    if reducing:
        op.attributes[COLLECTIVE_MARK] = ir.UnitAttr.get()
    block.append_to(op.regions[0])
    carry_configuration(of, op)
    return op


def carry_configuration(of: Sequence[ir.Operation], op: ir.Operation) -> None:
    """Makes an operation ask for what those ask for that it is made of; fails where they differ."""
    asking = {
        each.attributes[CONFIGURATION]: each for each in of if CONFIGURATION in each.attributes
    }
    if len(asking) > 1:
        first, other, *_ = asking.values()
        place = location_text(first.location)
        fail(other, f"{CONFIGURATION}: it is one with what is at {place}, which asks for another")
    for configuration in asking:
        op.attributes[CONFIGURATION] = configuration


def _input_count(op: ir.Operation) -> int:
    if "operandSegmentSizes" in op.attributes:
        return ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    count = len(op.operands)
    # Of linalg.reduce half of them; linalg.transpose, linalg.broadcast and linalg.map have one out.
    return count // 2 if op.name == "linalg.reduce" else count - 1

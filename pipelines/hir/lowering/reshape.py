"""hir.reshape: the same elements with other sizes."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.hir import ReshapeOp
from ....dialects.hir.layout import DYNAMIC, is_packed, strides_and_offset
from ....dialects.mlir import arith, ir, scf
from ...host.buffer import stack_array
from ..index_arithmetic import CheckedArithmetic, Index, IndexArithmetic, is_same, materialized
from .buffers import Extents, as_i64, extents_of, view_of
from .checks import refuse_if, refuse_negative_sizes, refuse_unless_equal
from .conform import sizes_of
from .registry import lowers
from .state import ProgramState


@lowers("hir.reshape")
def lower_reshape(op: ReshapeOp, state: ProgramState) -> list[ir.Value]:
    """Packed buffers stay packed.

    Where the types do not say whether the buffer is packed, that is found out in line, and the
    strides of one that is not by the support library.
    """
    kind, buffer = ir.MemRefType(op.view.type), ir.MemRefType(op.buffer.type)
    extents, arithmetic = extents_of(op.buffer), IndexArithmetic()
    sizes = sizes_of(op, list(op.sizes), kind)
    refuse_negative_sizes(state, sizes, "hir.reshape")
    _check_number(state, extents.sizes, sizes)
    strides: list[Index] = list(strides_and_offset(kind)[0])
    if DYNAMIC in strides and is_packed(buffer):
        strides = arithmetic.packed_strides(sizes)
    elif DYNAMIC in strides or not _is_known(buffer):
        strides = _found_strides(state, extents, sizes)
    return [view_of(op.buffer, kind, Extents(sizes, strides, extents.offset))]


def _is_known(buffer: ir.MemRefType) -> bool:
    """Returns whether the verifier has seen that there is such a view."""
    return is_packed(buffer) or DYNAMIC not in (*buffer.shape, *strides_and_offset(buffer)[0])


def _check_number(state: ProgramState, old: Sequence[Index], new: Sequence[Index]) -> None:
    """Nothing is to be checked where the same sizes are there in another order."""
    old, new = list(old), list(new)
    arithmetic = IndexArithmetic()
    rest = list(new)
    unmatched: list[Index] = []
    for size in old:
        match = next((place for place, other in enumerate(rest) if is_same(size, other)), None)
        if match is None:
            unmatched.append(size)
        else:
            del rest[match]
    if not unmatched and not rest:
        return
    # A product that wraps could be the buffer's number of elements.
    checked = CheckedArithmetic()
    wanted, found = checked.product(new), arithmetic.product(old)
    beyond = checked.exceeds(wanted, 2**63 - 1, new)
    if beyond is not None:
        refuse_if(state, beyond, "hir.reshape: the sizes have more than 2^63 - 1 elements")
    message = "hir.reshape: the sizes have {} elements, the buffer has {}"
    refuse_unless_equal(state, wanted, found, message)


def _found_strides(state: ProgramState, extents: Extents, sizes: Sequence[Index]) -> list[Index]:
    """Strides of the new sizes, where the buffer may have any."""
    arithmetic = IndexArithmetic()
    packed = arithmetic.packed_strides(sizes)
    if not packed:
        return []
    index = ir.IndexType.get()
    test = scf.IfOp(_is_packed_now(extents), [index] * len(packed), has_else=True)
    with ir.InsertionPoint(test.then_block):
        scf.YieldOp([materialized(stride) for stride in packed])
    assert test.else_block is not None
    with ir.InsertionPoint(test.else_block):
        unknown = [materialized(0) for _ in packed]
        end = scf.YieldOp(unknown)
    with state.before(end):
        emit = state.emit
        found = stack_array(emit, [as_i64(state, 0) for _ in packed])
        old_sizes = stack_array(emit, [as_i64(state, size) for size in extents.sizes])
        old_strides = stack_array(emit, [as_i64(state, stride) for stride in extents.strides])
        new_sizes = stack_array(emit, [as_i64(state, size) for size in sizes])
        ranks = emit.i64(len(extents.sizes)), emit.i64(len(packed))
        emit.call(
            "hirc_reshape_strides",
            [ranks[0], old_sizes, old_strides, ranks[1], new_sizes, found, emit.location()],
        )
        array = emit.types.array(len(packed), emit.types.i64)
        for place in range(len(packed)):
            stride = emit.load(emit.types.i64, emit.element_address(found, array, place))
            end.operation.operands[place] = emit.cast(stride, index)
    return list(test.results)


def _is_packed_now(extents: Extents) -> ir.Value:
    """Returns whether a buffer lies in row-major order; the stride of a size of 1
    does not count.
    """
    packed = IndexArithmetic().packed_strides(extents.sizes)
    result: ir.Value = arith.constant(ir.IntegerType.get_signless(1), 1)
    for size, stride, wanted in zip(extents.sizes, extents.strides, packed, strict=True):
        if size == 1 or is_same(stride, wanted):
            continue
        same = arith.cmpi(arith.CmpIPredicate.eq, materialized(stride), materialized(wanted))
        if isinstance(size, ir.Value):
            one = arith.cmpi(arith.CmpIPredicate.eq, size, materialized(1))
            same = arith.ori(same, one)
        result = arith.andi(result, same)
    return result

"""The pointwise schedule: every iteration gives elements of the outputs by itself.

The loops are made into as few as the operands allow. A thread computes one vector of neighbouring
elements, 16 bytes of the widest operand, and there is a thread for each: on an H200 that moves
4378 GB/s in an addition, and two or four vectors a thread less (4344, 4309), as do threads that go
on to further ones (3962 of 4266 GB/s in a copy). Single elements are too few bytes; of those a
thread takes several, a block apart so that the block's accesses lie side by side.
"""

from __future__ import annotations

from dataclasses import replace

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..kernels import Kernels
from ..launch import emit_launch, operation_name
from ..parameters import Parameters
from ..size import ONE, ZERO
from ..space import Loop, collapsed, in_memory_order, is_flat, total
from ..work import Layout, Operand, Work
from .gathers import find_gathers, indexed_loops
from .guarded_loads import find_guarded_loads, guarded_loops
from .kernel import PointwiseKernel
from .vectors import THREADS, Kind, Vectors

# Elements that a thread takes where it takes single ones.
_SINGLES = 8
# Vectors whose loads wait for that of an index: one alone leaves the memory idle (H200: 4105 GB/s,
# two 4405, four 4370).
_GATHERED = 2
# Numbers of vectors, or elements, that are divided to tell loops apart: in 32 bits.
_MOST = 2**31 - 1


def alternatives(work: Work, kernels: Kernels, device: Device) -> list[Alternative] | None:
    """Wide accesses, and last narrow ones for any layout; None for what is not pointwise."""
    del device
    if work.collectives or not work.outputs or not _loops(work):
        return None
    found = _wide(work)
    assumed = [operand for operand in work.operands if operand.is_assumed]
    if any(ir.MemRefType(operand.buffer.type).rank > 1 for operand in assumed):
        found += _wide(work.in_layout(Layout.ROWS))
    if assumed:
        work = work.in_layout(Layout.ANY)
    found.append(Vectors(work, _loops(work), Kind.SINGLE, 1, _SINGLES))
    return [_alternative(vectors, kernels) for vectors in found]


def _loops(work: Work) -> tuple[Loop, ...]:
    apart = indexed_loops(work) | guarded_loops(work)
    return tuple(collapsed(work, in_memory_order(work, work.parallel), apart))


def _wide(work: Work) -> list[Vectors]:
    """The ways in which accesses of several elements may be possible."""
    loops = _loops(work)
    inner = loops[-1]
    width = ACCESS_BYTES // max(
        element_bytes(operand.element) for operand in work.operands if _is_whole(operand, loops)
    )
    if width == 1 or any(inner.stride_of(work, each.number) != ONE for each in work.outputs):
        return []
    gathers = tuple(find_gathers(work, inner.parts[0]) if len(inner.parts) == 1 else ())
    guarded = tuple(find_guarded_loads(work, inner.parts[0]) if len(inner.parts) == 1 else ())
    kind = Kind.ROWS if len(loops) > 1 else Kind.FLAT
    is_flat_output = all(is_flat(work, operand, loops) for operand in work.outputs)
    found: list[Vectors] = []
    if kind is Kind.ROWS or is_flat_output:
        unroll = _GATHERED if gathers and kind is Kind.ROWS else 1
        found.append(Vectors(work, loops, kind, width, unroll, gathers, guarded))
        if guarded:
            found.append(replace(found[-1], has_pieces=False))
    if is_flat_output and len(loops) > 1 and not inner.extent.is_multiple_of(width):
        found.append(Vectors(work, loops, Kind.FLAT, width))
    return found


def _is_whole(operand: Operand, loops: tuple[Loop, ...]) -> bool:
    """Whether an operand has an element for each iteration: the bytes that matter."""
    return all(operand.strides[part] != ZERO for loop in loops for part in loop.parts)


def _alternative(vectors: Vectors, kernels: Kernels) -> Alternative:
    work, width = vectors.work, vectors.width

    def conditions(found: Conditions) -> None:
        found.require(work.layouts_hold())
        if len(vectors.loops) > 1:
            most = _MOST * width if vectors.kind is Kind.ROWS else _MOST
            found.require_at_most(total(vectors.loops), most)
        if vectors.kind is Kind.SINGLE:
            return
        for operand in work.operands:
            if vectors.is_neighbouring(operand):
                found.require_aligned(operand, vectors.alignment(operand))
                if vectors.kind is Kind.ROWS:
                    for loop in vectors.loops[:-1]:
                        found.require_multiple(loop.stride_of(work, operand.number), width)
        if vectors.kind is Kind.ROWS:
            found.require_multiple(vectors.inner.extent, width)
        for gather in vectors.gathers:
            gather.require(found, width)
        if vectors.has_pieces:
            for each in vectors.guarded:
                each.require(found, each.piece(width))

    return conditions, lambda: _launch(vectors, kernels)


def _launch(vectors: Vectors, kernels: Kernels) -> None:
    work = vectors.work
    made: list[Parameters] = []

    def emit(entry: ir.Block) -> None:
        parameters = Parameters(entry, work.open)
        made.append(parameters)
        PointwiseKernel(vectors, parameters).emit()

    kernel = kernels.build(operation_name(work.op), THREADS, emit, work.op.location)
    elements = total(vectors.loops)
    a_block = THREADS * vectors.width * vectors.unroll
    # Each of the elements that fill no vector takes a thread too.
    more = vectors.width * (vectors.width - 1) if vectors.leaves_elements else 0
    if elements.is_known:
        blocks = index_constant(-(-(elements.known + more) // a_block) if elements.known else 0)
    else:
        padded = arith.addi(work.open.value(elements), index_constant(more))
        blocks = arith.ceildivui(padded, index_constant(a_block))
    emit_launch(kernel, blocks, THREADS, made[0].arguments())

"""Waits of the current stream for others, written into a program."""

from __future__ import annotations

from ....dialects.mlir import ir
from ...rewriting import index_constant
from ...walking import defining_op
from ..loops import begin_loop
from ..memory.owners import Owners, is_before
from .ops import current_stream, named_stream, pool_stream, wait_stream
from .order import Stream, pool_of


def wait_for(owners: Owners, stream: Stream, place: ir.Operation) -> None:
    """Before `place` the current stream waits for `stream`.

    One of a pool that the place does not know is waited for with all the others of the pool.
    """
    with ir.InsertionPoint(place), place.location:
        here = current_stream()
        known = _known_at(owners, stream, place)
        if known is not None:
            wait_stream(here, known)
            return
        source = stream[1]
        if isinstance(source, int):
            pool = source
        else:
            op = defining_op(source) if isinstance(source, ir.Value) else source
            assert isinstance(op, ir.Operation)
            pool = pool_of(op)
        loop = begin_loop(index_constant(0), index_constant(pool), index_constant(1))
        body = loop.regions[0].blocks[0]
        with ir.InsertionPoint(body):
            wait_stream(here, pool_stream(body.arguments[0], pool))


def _known_at(owners: Owners, stream: Stream, place: ir.Operation) -> ir.Value | None:
    """Returns the stream as a value that is there at `place`, if it can be."""
    match stream:
        case ("caller",):
            return _current_at_start(owners.block)
        case ("name", str(name)):
            return named_stream(name)
        case ("iteration", ir.Operation() as loop):
            return _current_at_start(loop.regions[0].blocks[0])
        case ("value", ir.Value() as value):
            op = defining_op(value)
            assert op is not None
            return value if is_before(op, place) else None
        case _:
            return None


def _current_at_start(block: ir.Block) -> ir.Value:
    first = next(iter(block)).operation
    if first.name == "hir.current_stream":
        return first.results[0]
    with ir.InsertionPoint.at_block_begin(block):
        return current_stream()

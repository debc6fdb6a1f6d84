"""Waits of the current stream for others, written into a program."""

from __future__ import annotations

from ....dialects.mlir import ir
from ...rewriting import index_constant
from ...walking import defining_op
from ..loops import begin_loop
from ..memory.owners import Owners, is_before
from .order import Stream, pool_of


def wait_for(owners: Owners, stream: Stream, place: ir.Operation) -> None:
    """Before `place` the current stream waits for `stream`.

    One of a pool that the place does not know is waited for with all the others of the pool.
    """
    with ir.InsertionPoint(place), place.location:
        here = _create("hir.current_stream")
        known = _known_at(owners, stream, place)
        if known is not None:
            _wait(here, known)
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
            whole = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), pool)
            each = _create("hir.stream", [body.arguments[0]], {"pool": whole})
            _wait(here, each)


def _known_at(owners: Owners, stream: Stream, place: ir.Operation) -> ir.Value | None:
    """Returns the stream as a value that is there at `place`, if it can be."""
    match stream:
        case ("caller",):
            return _current_at_start(owners.block)
        case ("name", str(name)):
            return _create("hir.stream", [], {"name": ir.StringAttr.get(name)})
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
        return _create("hir.current_stream")


def _wait(waiter: ir.Value, signaller: ir.Value) -> None:
    ir.Operation.create("hir.wait_stream", operands=[waiter, signaller])


def _create(
    name: str,
    operands: list[ir.Value] | None = None,
    attributes: dict[str, ir.Attribute] | None = None,
) -> ir.Value:
    stream = ir.Type.parse("!hir.stream_t")
    op = ir.Operation.create(
        name, results=[stream], operands=operands or [], attributes=attributes or {}
    )
    return op.results[0]

"""hir.stream and hir.current_stream: which stream."""

from __future__ import annotations

from ....dialects.hir import CurrentStreamOp, StreamOp
from ....dialects.mlir import ir
from .registry import lowers
from .state import ProgramState

# As many devices as the support library keeps streams for (compiler/runtime/current_device.h).
_DEVICES = 64
_POOL = 8


@lowers("hir.stream")
def lower_stream(op: StreamOp, state: ProgramState) -> list[ir.Value]:
    """A call; for a name with a table in which it finds the stream again."""
    emit = state.emit
    if "name" in op.attributes:
        name = ir.StringAttr(op.attributes["name"]).value
        tables = state.tables.streams
        if name not in tables:
            tables[name] = emit.zeroed_words(f"hirc_stream_{len(tables)}", _DEVICES)
        arguments = [emit.address_of(tables[name]), emit.string(name), emit.location()]
        stream = emit.call("hirc_stream_named", arguments, emit.types.ptr)
    else:
        assert op.index is not None
        pool = ir.IntegerAttr(op.attributes["pool"]).value if "pool" in op.attributes else _POOL
        arguments = [emit.convert(op.index), emit.i64(pool), emit.location()]
        stream = emit.call("hirc_stream_of_pool", arguments, emit.types.ptr)
    assert stream is not None
    return [stream]


@lowers("hir.current_stream")
def lower_current_stream(op: CurrentStreamOp, state: ProgramState) -> list[ir.Value]:
    """Returns the value that stands for it here."""
    del op
    return [state.stream]

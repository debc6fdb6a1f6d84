"""Writing the operations on streams and events."""

from __future__ import annotations

from ....dialects.mlir import ir


def current_stream() -> ir.Value:
    """hir.current_stream."""
    return _create("hir.current_stream", [], "stream_t")


def pool_stream(number: ir.Value, pool: int) -> ir.Value:
    """hir.stream: number `number` modulo `pool`."""
    size = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), pool)
    return _create("hir.stream", [number], "stream_t", {"pool": size})


def named_stream(name: str) -> ir.Value:
    """hir.stream: that of a name."""
    return _create("hir.stream", [], "stream_t", {"name": ir.StringAttr.get(name)})


def record(stream: ir.Value) -> ir.Value:
    """hir.record: an event at this point of a stream."""
    return _create("hir.record", [stream], "event_t")


def set_stream(stream: ir.Value) -> None:
    """hir.set_stream."""
    ir.Operation.create("hir.set_stream", operands=[stream])


def wait_event(event: ir.Value, stream: ir.Value) -> None:
    """hir.wait_event: the stream goes on after the event."""
    ir.Operation.create("hir.wait_event", operands=[event, stream])


def wait_stream(waiter: ir.Value, signaller: ir.Value) -> None:
    """hir.wait_stream: the waiter goes on after what is in the signaller."""
    ir.Operation.create("hir.wait_stream", operands=[waiter, signaller])


def _create(
    name: str,
    operands: list[ir.Value],
    result: str,
    attributes: dict[str, ir.Attribute] | None = None,
) -> ir.Value:
    kind = ir.Type.parse(f"!hir.{result}")
    op = ir.Operation.create(name, results=[kind], operands=operands, attributes=attributes)
    return op.results[0]

"""The dynamic shared memory a gpu.launch_func asks for."""

from __future__ import annotations

from ..dialects.mlir import arith, ir

# gpu.launch_func's operand groups before its dynamic shared memory size.
_GROUPS_BEFORE_SIZE = 10


def asks_for_shared_memory(launch: ir.Operation) -> bool:
    """Whether a gpu.launch_func names a size at all."""
    return bool(_segments(launch)[_GROUPS_BEFORE_SIZE])


def add_shared_bytes(launch: ir.Operation, size: int) -> None:
    """Makes a gpu.launch_func ask for `size` more bytes; one that asked for none is replaced."""
    segments = _segments(launch)
    at = sum(segments[:_GROUPS_BEFORE_SIZE])
    operands = list(launch.operands)
    with launch.location, ir.InsertionPoint(launch):
        if segments[_GROUPS_BEFORE_SIZE]:
            more = arith.ConstantOp(operands[at].type, size).result
            launch.operands[at] = arith.AddIOp(operands[at], more).result
            return
        operands.insert(at, arith.constant(ir.IntegerType.get_signless(32), size))
        segments[_GROUPS_BEFORE_SIZE] = 1
        attributes = {name: launch.attributes[name] for name in launch.attributes}
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
        again = ir.Operation.create(
            "gpu.launch_func",
            results=[result.type for result in launch.results],
            operands=operands,
            attributes=attributes,
        )
    for old, new in zip(launch.results, again.results, strict=True):
        old.replace_all_uses_with(new)
    launch.erase()


def _segments(launch: ir.Operation) -> list[int]:
    return list(ir.DenseI32ArrayAttr(launch.attributes["operandSegmentSizes"]))

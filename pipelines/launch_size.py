"""The sizes of a launch: which no chip takes, and the dynamic shared memory it asks for."""

from __future__ import annotations

from math import prod

from ..dialects.mlir import arith, gpu, ir
from .constants import constant_value
from .pass_base import fail

# What the runtime refuses on every chip so far, each size and their product (CUDA programming
# guide, technical specifications per compute capability).
_MOST: dict[str, tuple[tuple[int, int, int], int | None]] = {
    "block": ((1024, 1024, 64), 1024),
    "grid": ((2**31 - 1, 65535, 65535), None),
    "cluster": ((16, 16, 16), 16),
}
_UNITS = {"block": "threads", "cluster": "blocks"}
# gpu.launch_func's operand groups before its dynamic shared memory size.
_GROUPS_BEFORE_SIZE = 10


def check_extents(op: gpu.LaunchOp | gpu.LaunchFuncOp) -> None:
    """Fails for constant sizes that no chip takes; others are the runtime's to refuse."""
    given: dict[str, list[ir.Value | None]] = {
        "block": [op.blockSizeX, op.blockSizeY, op.blockSizeZ],
        "grid": [op.gridSizeX, op.gridSizeY, op.gridSizeZ],
        "cluster": [op.clusterSizeX, op.clusterSizeY, op.clusterSizeZ],
    }
    for what, (largest, product) in _MOST.items():
        known = [None if value is None else constant_value(value) for value in given[what]]
        for axis, value, limit in zip("xyz", known, largest, strict=True):
            if value is not None and not 0 < value <= limit:
                fail(op, f"{what} size {axis} is {value}; CUDA takes 1 to {limit}")
        total = prod(value for value in known if value is not None)
        if product is not None and total > product:
            fail(op, f"a {what} of {total} {_UNITS[what]}; CUDA takes at most {product}")
    shared = op.dynamicSharedMemorySize
    size = None if shared is None else constant_value(shared)
    if size is not None and size < 0:
        fail(op, f"{size} bytes of shared memory a block")


def asks_for_shared_memory(launch: ir.Operation) -> bool:
    """Returns whether a gpu.launch_func names a size at all."""
    return bool(_segments(launch)[_GROUPS_BEFORE_SIZE])


def add_shared_bytes(launch: ir.Operation, size: int) -> None:
    """Makes a gpu.launch_func ask for `size` more bytes; one that asked for none is replaced."""
    segments = _segments(launch)
    at = sum(segments[:_GROUPS_BEFORE_SIZE])
    operands = list(launch.operands)
    with launch.location, ir.InsertionPoint(launch):
        if segments[_GROUPS_BEFORE_SIZE]:
            kind, given = operands[at].type, constant_value(operands[at])
            more = arith.ConstantOp(kind, size + (given or 0)).result
            launch.operands[at] = arith.AddIOp(operands[at], more).result if given is None else more
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

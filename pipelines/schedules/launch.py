"""What schedules share on the host side: the kernel's arguments, name, and launch."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects import hir
from ...dialects.mlir import arith, ir
from ..rewriting import index_constant
from ..walking import operations_where
from .device import Device

# Operations that are cheaper to repeat in a kernel than to pass to it.
_REPEATED = ("arith.constant",)
# What says nothing about an operation's work.
_SILENT = (
    "linalg.",
    "arith.constant",
    "arith.extf",
    "arith.truncf",
    "arith.index_cast",
    "arith.cmp",
    "arith.select",
    "arith.bitcast",
    "scf.",
    "cf.assert",
    "memref.dim",
)


def captured_values(op: ir.Operation) -> list[ir.Value]:
    """The values from outside that `op`'s region uses, each once; constants are copied into it."""
    walked = operations_where(op, lambda inner: inner != op)
    captured: list[ir.Value] = []
    copies: dict[ir.Value, ir.Value] = {}
    first = ir.InsertionPoint.at_block_begin(op.regions[0].blocks[0])
    for inner in walked:
        for number, value in enumerate(inner.operands):
            if is_within(_defining_op(value), op):
                continue
            owner = value.owner
            if not isinstance(owner, ir.Block) and owner.operation.name in _REPEATED:
                if value not in copies:
                    copies[value] = owner.operation.clone(first).results[0]
                inner.operands[number] = copies[value]
            elif value not in captured:
                captured.append(value)
    return captured


def is_within(inner: ir.Operation, op: ir.Operation) -> bool:
    """Whether `inner` is `op` or lies in one of its regions."""
    ancestor: ir.Operation | None = inner
    while ancestor is not None and ancestor != op:
        ancestor = None if ancestor.parent is None else ancestor.parent.operation
    return ancestor is not None


def _defining_op(value: ir.Value) -> ir.Operation:
    """The operation that gives a value, or in whose region's block it is an argument."""
    owner = value.owner
    return owner.owner.operation if isinstance(owner, ir.Block) else owner.operation


def operation_name(op: ir.Operation) -> str:
    """A kernel's name from what it computes: `addf`, `mulf_addf`, `copy`."""
    words: list[str] = []
    for inner in op.regions[0].blocks[0]:
        name = inner.operation.name
        results = inner.operation.results
        is_index = len(results) > 0 and isinstance(results[0].type, ir.IndexType)
        if not name.startswith(_SILENT) and not is_index:
            words.append(name.partition(".")[2])
    return "_".join(words[:3]) or "copy"


def power_of_two(least: ir.Value, most: int) -> ir.Value:
    """Emits the smallest power of two that is no less than a number, up to `most`, which is one."""
    found, power = index_constant(1), 1
    while power < most:
        is_more = arith.cmpi(arith.CmpIPredicate.ugt, least, index_constant(power))
        power *= 2
        found = arith.select(is_more, index_constant(power), found)
    return found


def thread_bound(threads: int, device: Device | None) -> dict[str, ir.Attribute]:
    """A kernel's attributes where the launch says how many threads a block has, up to these."""
    if device is not None and device.is_amd:
        # Without it the code generator takes no block to have more than 256.
        i32 = ir.IntegerType.get_signless(32)
        return {"rocdl.max_flat_work_group_size": ir.IntegerAttr.get(i32, threads)}
    return {"nvvm.maxntid": ir.DenseI32ArrayAttr.get([threads, 1, 1])}


def emit_launch(
    kernel: ir.SymbolRefAttr,
    blocks: ir.Value,
    threads: int | ir.Value,
    arguments: Sequence[ir.Value],
    shared_bytes: int = 0,
    rows: ir.Value | None = None,
    cluster: int = 1,
    overlaps: bool = False,
    block_rows: ir.Value | None = None,
) -> None:
    """A hir.launch of a grid of `blocks`, or of `rows` times as many, on the current stream.

    `shared_bytes` are those of a block that the kernel does not declare itself. The rows are the
    grid's y dimension; `cluster` blocks in x make a cluster. With `overlaps` the kernel waits for
    the one before it. A block has `threads` in x, and so many rows of them in y.
    """
    one, shared = index_constant(1), index_constant(shared_bytes)
    high = one if rows is None else rows
    size = index_constant(threads) if isinstance(threads, int) else threads
    attributes: dict[str, ir.Attribute] = {"kernel": kernel}
    if cluster > 1:
        attributes["cluster"] = ir.DenseI64ArrayAttr.get([cluster, 1, 1])
    if overlaps:
        attributes["overlaps"] = ir.UnitAttr.get()
    launch = ir.Operation.create(
        hir.LaunchOp.OPERATION_NAME,
        operands=[blocks, high, one, size, one if block_rows is None else block_rows, one, shared],
        attributes=attributes,
        regions=1,
    )
    body = launch.regions[0].blocks.append()
    with ir.InsertionPoint(body):
        for value in arguments:
            ir.Operation.create(hir.ArgumentOp.OPERATION_NAME, operands=[value])

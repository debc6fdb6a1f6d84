"""hir.launch and hir.kernel: kernel launches."""

from __future__ import annotations

from dataclasses import replace

from ....dialects.hir import LaunchOp
from ....dialects.hir.region_arguments import arguments_of
from ....dialects.hir.symbols import lookup, path_of, written
from ....dialects.mlir import arith, ir, scf
from ...constants import constant_value
from ...host.buffer import data_address
from ...host.launch import OVERLAPS
from ...pass_base import fail
from ...rewriting import index_constant
from .conform import conform
from .registry import lowers
from .state import LaunchedKernel, ProgramState, Tables


@lowers("hir.launch")
def lower_launch(op: LaunchOp, state: ProgramState) -> list[ir.Value]:
    """Returns an asynchronous gpu.launch_func. A grid with a size of 0 is not launched."""
    kernel = find_kernel(op, state.tables)
    grid = [op.grid_x, op.grid_y, op.grid_z]
    known = [constant_value(size) for size in grid]
    if 0 in known:
        return []
    open_sizes = [size for size, number in zip(grid, known, strict=True) if number is None]
    if not open_sizes:
        _launch(op, state, kernel)
        return []
    zero = index_constant(0)
    launched: ir.Value | None = None
    for size in open_sizes:
        some = arith.cmpi(arith.CmpIPredicate.ne, size, zero)
        launched = some if launched is None else arith.andi(launched, some)
    assert launched is not None
    test = scf.IfOp(launched)
    with ir.InsertionPoint(test.then_block):
        end = scf.YieldOp([])
    with state.before(end):
        _launch(op, state, kernel)
    return []


def find_kernel(op: LaunchOp, tables: Tables) -> LaunchedKernel:
    """Returns the kernel of a launch."""
    known = tables.kernels
    kernel = known.get(op.kernel)
    if kernel is None:
        kernel = known[op.kernel] = _look_up(op)
    own = _three(op.operation)
    return replace(kernel, cluster=own) if own else kernel


def _look_up(op: LaunchOp) -> LaunchedKernel:
    """Returns the kernel as its symbol names it; the clusters are those of its hir.kernel."""
    symbol: ir.Attribute = op.kernel
    cluster: list[int] = []
    named = lookup(op, path_of(symbol))
    if named is not None and named.name == "hir.kernel":
        symbol = named.attributes["function"]
        cluster = _three(named)
    function = lookup(op, path_of(symbol))
    if function is None or function.name != "gpu.func":
        fail(op, f"hir.launch of {written(path_of(symbol))}, which is no gpu.func of this module")
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    return LaunchedKernel(symbol, written(path_of(symbol)), list(kind.inputs), cluster)


def _three(op: ir.Operation) -> list[int]:
    return (
        list(ir.DenseI64ArrayAttr(op.attributes["cluster"])) if "cluster" in op.attributes else []
    )


def _launch(op: LaunchOp, state: ProgramState, kernel: LaunchedKernel) -> None:
    emit = state.emit
    stream = op.stream if op.stream is not None else state.stream
    arguments = [argument.operands[0] for argument in arguments_of(op.arguments)]
    if len(arguments) != len(kernel.parameters):
        fail(op, f"{kernel.name} takes {len(kernel.parameters)} arguments, not {len(arguments)}")
    values = [
        _passed(state, value, kind, f"argument {number} of {kernel.name}")
        for number, (value, kind) in enumerate(zip(arguments, kernel.parameters, strict=True))
    ]
    token = emit.cast(stream, emit.types.token)
    sizes = [op.grid_x, op.grid_y, op.grid_z, op.block_x, op.block_y, op.block_z]
    cluster = [index_constant(size) for size in kernel.cluster]
    shared = _shared_bytes(op)
    # Operand groups: dependencies, grid, block, cluster, shared bytes, arguments, stream object.
    segments = [1, *[1] * 6, *[int(bool(cluster))] * 3, int(shared is not None), len(values), 0]
    overlaps = {OVERLAPS: ir.UnitAttr.get()} if "overlaps" in op.attributes else {}
    ir.Operation.create(
        "gpu.launch_func",
        results=[emit.types.token],
        operands=[token, *sizes, *cluster, *([shared] if shared is not None else []), *values],
        attributes={
            "kernel": kernel.symbol,
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments),
            **overlaps,
        },
    )


def _passed(state: ProgramState, value: ir.Value, kind: ir.Type, what: str) -> ir.Value:
    """Returns the value as the kernel takes it: a buffer's address where it takes a pointer."""
    if isinstance(value.type, ir.MemRefType) and kind == state.emit.types.ptr:
        return data_address(state.emit, value)
    return conform(state, value, kind, what)


def _shared_bytes(op: LaunchOp) -> ir.Value | None:
    """Returns the dynamic shared memory as gpu.launch_func takes it; None for nothing."""
    if constant_value(op.shared_bytes) == 0:
        return None
    return arith.index_cast(ir.IntegerType.get_signless(32), op.shared_bytes)


@lowers("hir.kernel")
def lower_kernel(op: ir.OpView, state: ProgramState) -> list[ir.Value]:
    """Its launches have read it."""
    del op, state
    return []

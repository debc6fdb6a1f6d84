"""expand-gpu-memset: fills the CUDA runtime cannot do become kernels."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import arith, gpu, ir, memref, scf
from ...dialects.records import dataclass
from ..fill_pattern import fill_byte
from ..pass_base import Pass, register
from ..rewriting import index_constant
from ..walking import operations_where

_BLOCK = 256


@register
@dataclass(frozen=True)
class ExpandGpuMemset(Pass):
    """Turns gpu.memset into a gpu.launch unless its value repeats one byte over packed memory.

      gpu.memset %buffer, %one : memref<?xf32>, f32
    becomes a launch of one thread an element, of any rank and strides, that stores %one.
    """

    name: ClassVar[str] = "expand-gpu-memset"
    subjects: ClassVar[tuple[str, ...]] = ("gpu.memset",)

    def run(self, op: ir.Operation) -> None:
        for inner in operations_where(op, lambda inner: inner.name == "gpu.memset"):
            fill = inner.opview
            assert isinstance(fill, gpu.MemsetOp)
            if fill_byte(fill) is None:
                with fill.location:
                    _expand(fill)


def _expand(op: gpu.MemsetOp) -> None:
    target, value = op.dst, op.value
    rank = ir.MemRefType(target.type).rank
    with ir.InsertionPoint(op):
        one, block = index_constant(1), index_constant(_BLOCK)
        sizes = [memref.dim(target, index_constant(axis)) for axis in range(rank)]
        total = one
        for size in sizes:
            total = arith.muli(total, size)
        # A launch of no blocks is an error; one block that stores nothing is not.
        blocks = arith.maxui(arith.ceildivui(total, block), one)
        token = op.asyncToken
        dependencies = list(op.asyncDependencies)
        launch = gpu.LaunchOp((blocks, one, one), (block, one, one), dependencies)
        if token is not None:
            # The builder has no way to ask for a token: build the same launch with one.
            launch = _with_token(launch.operation)
    body = launch.regions[0].blocks[0]
    with ir.InsertionPoint(body):
        thread = arith.addi(arith.muli(body.arguments[0], body.arguments[9]), body.arguments[3])
        inside = scf.IfOp(arith.cmpi(arith.CmpIPredicate.ult, thread, total))
        with ir.InsertionPoint(inside.then_block):
            rest, position = thread, []
            for size in reversed(sizes):
                position.insert(0, arith.remui(rest, size))
                rest = arith.divui(rest, size)
            memref.store(value, target, position)
            scf.YieldOp([])
        gpu.TerminatorOp()
    if token is not None:
        token.replace_all_uses_with(launch.results[0])
    op.operation.erase()


def _with_token(launch: ir.Operation) -> ir.Operation:
    again = ir.Operation.create(
        "gpu.launch",
        results=[ir.Type.parse("!gpu.async.token")],
        operands=list(launch.operands),
        attributes={name: launch.attributes[name] for name in launch.attributes},
        regions=1,
    )
    index = ir.IndexType.get()
    again.regions[0].blocks.append(*([index] * 12))
    launch.erase()
    return again

"""hir-form-stream-loops: operations with a `stream_axis` become loops over slices."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.extents import Known
from ..hir.memory.owners import Owners
from ..hir.streams.groups import stream_groups
from ..hir.streams.loops import write_stream_loop
from ..pass_base import Pass, fail, register
from ..walking import operations_where

_HOLDS_WORK = ("hir.program", "hir.for", "hir.if")


@register
@dataclass(frozen=True)
class HirFormStreamLoops(Pass):
    """Spreads compute operations over streams, one iteration of a hir.for a place of their axis.

      %y = "hir.unary"(%x) {kind = "exp", stream_axis = 0 : i64}
        : (memref<8x4xf32>) -> memref<8x4xf32>
    becomes
      %y = "hir.allocate"() : () -> memref<8x4xf32>
      "hir.for"(%zero, %eight, %one) ({
      ^bb0(%i: index):
        %from = "hir.select"(%x, %i) {axis = 0 : i64} : ...
        %to = "hir.select"(%y, %i) {axis = 0 : i64} : ...
        "hir.unary"(%from, %to) {kind = "exp"} : ...
      }) {streams = 8 : i64} : (index, index, index) -> ()

    Neighbours of the same extent share a loop, unless a value crosses between them that both do not
    take apart along the same axis. `pool` is the number of streams.
    """

    name: ClassVar[str] = "hir-form-stream-loops"

    pool: int = 8

    def run(self, op: ir.Operation) -> None:
        if self.pool < 1:
            fail(op, f"option 'pool' of {self.name} is at least 1, not {self.pool}")
        for alias in operations_where(op, lambda inner: inner.name == "hir.alias"):
            fail(alias, f"run hir-resolve-aliases before {self.name}, which moves work")
        # Every block is looked at before any is changed.
        groups = [
            group
            for program in operations_where(op, lambda inner: inner.name == "hir.program")
            for owners, known in [(Owners(program), Known())]
            for holder in operations_where(program, lambda inner: inner.name in _HOLDS_WORK)
            for region in holder.regions
            for group in stream_groups(region.blocks[0], owners, known)
        ]
        for group in groups:
            write_stream_loop(group, self.pool)

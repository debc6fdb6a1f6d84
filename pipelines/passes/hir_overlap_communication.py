"""hir-overlap-communication: communications and the products beside them go in steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.memory.owners import Owners
from ..overlap.products import PRODUCTS, STEPS
from ..pass_base import Pass, fail, register
from ..schedules.device import Device, device_of_option
from ..walking import operations_where

if TYPE_CHECKING:
    from ..overlap.cost import ByPeers, Steps
    from ..overlap.search import Overlap

_HOLDS_WORK = ("hir.program", "hir.for", "hir.if")


@register
@dataclass(frozen=True)
class HirOverlapCommunication(Pass):
    """Turns a communication and the product that needs it, or gives it, into a loop over streams.

      %request = "hir.communicate"(%x, %all, %team) {kind = "allgather"}
        : (memref<4x8xf32>, memref<8x8xf32>, !hir.communicator_t) -> !hir.request_t
      "hir.wait"(%request) : (!hir.request_t) -> ()
      %y = "hir.linear"(%all, %w) {...} : (memref<8x8xf32>, memref<6x8xf32>) -> memref<8x6xf32>
    becomes
      %all = "hir.allocate"() : () -> memref<4x2x1x8xf32>
      %y = "hir.allocate"() : () -> memref<8x6xf32>
      %x.steps = "hir.reshape"(%x) : (memref<4x8xf32>) -> memref<4x1x8xf32>
      %y.steps = "hir.reshape"(%y) : (memref<8x6xf32>) -> memref<2x4x1x6xf32>
      "hir.for"(%zero, %four, %one) ({
      ^bb0(%step: index):
        %part = "hir.select"(%x.steps, %step) {axis = 0 : i64} : ... -> memref<1x8xf32, ...>
        %parts = "hir.select"(%all, %step) {axis = 0 : i64} : ... -> memref<2x1x8xf32, ...>
        %request = "hir.communicate"(%part, %parts, %team) {kind = "allgather"} : ...
        "hir.wait"(%request) : (!hir.request_t) -> ()
        %rows = "hir.select"(%y.steps, %step) {axis = 1 : i64} : ... -> memref<2x1x6xf32, ...>
        "hir.linear"(%parts, %w, %rows) {...} : ...
      }) {streams = 4 : i64, overlap = "allgather, 4 steps: ..."} : (index, index, index) -> ()

    A linalg.generic on buffers that sums products, as functions on tensors leave them, is a product
    too: its loop of rows becomes two, where rows are those of several devices.

    A step has a stream of its own: its communication follows the one before it, and its product
    nothing but its communication. So it is, the other way around, with a product whose result is
    all that a reduce-scatter, allreduce or all-to-all sends.

    With `by_peers` an allgather or the reduce-scatter of a sum goes by memory that the devices
    share instead (pipelines/overlap/peers.py), where the run finds that they reach each other's;
    and without, where that takes the least time and no steps are asked for. The steps are then the
    pieces that a device's sums leave in.

    The number of steps is what the product's `overlap_steps` asks for; with `steps` the greatest
    one up to it that divides the rows; else the one that takes the least time by the figures of the
    `chips` (pipelines/overlap/cost.py). With one step nothing changes.
    """

    name: ClassVar[str] = "hir-overlap-communication"
    subjects: ClassVar[tuple[str, ...]] = ("hir.communicate", *PRODUCTS)

    chips: str = ""
    steps: int = 0
    by_peers: bool = False

    def run(self, op: ir.Operation) -> None:
        if self.steps < 0:
            fail(op, f"option 'steps' of {self.name} is 0 or more, not {self.steps}")
        device = device_of_option(self.chips)
        for program in operations_where(op, lambda inner: inner.name == "hir.program"):
            self._overlap(program, device)

    def _overlap(self, program: ir.Operation, device: Device) -> None:
        # Imported late: few programs communicate.
        from ..overlap.loop import write_overlap
        from ..overlap.peers import write_by_peers
        from ..overlap.search import overlaps_in

        owners = Owners(program)
        holders = operations_where(program, lambda inner: inner.name in _HOLDS_WORK)
        blocks = [
            block for holder in holders for region in holder.regions for block in region.blocks
        ]
        for overlap in [each for block in blocks for each in overlaps_in(block, owners)]:
            steps = overlap.steps(device, self.steps)
            rows = overlap.product_rows.number
            if rows % steps.number:
                fail(
                    overlap.products[0],
                    f"'{STEPS}' is {steps.number}, which does not divide the {rows} rows that each "
                    "device has",
                )
            by_peers = self._by_peers(overlap, steps, device)
            if by_peers is not None:
                write_by_peers(overlap, by_peers.pieces)
            elif steps.number > 1:
                write_overlap(overlap, steps)
            else:
                _do_as_asked(overlap.products)
        for product in operations_where(program, _asks_for_steps):
            fail(
                product,
                f"'{STEPS}' is for a product that takes all that an allgather or all-to-all gives, "
                "or gives all that a reduce-scatter, allreduce or all-to-all takes, of sizes that "
                "the types tell, with nothing else done between: this one is not",
            )

    def _by_peers(self, overlap: Overlap, steps: Steps, device: Device) -> ByPeers | None:
        """Returns how it goes by memory that the devices share, None where it does not."""
        from ..overlap.cost import ByPeers, is_worth

        if not overlap.may_go_by_peers:
            return None
        found = overlap.by_peers(device)
        is_asked = overlap.asked is not None or self.steps
        if self.by_peers:
            return ByPeers(found.seconds, steps.number) if is_asked else found
        if is_asked or not device.links:
            return None
        is_less = found.seconds < steps.seconds and is_worth(found.seconds, steps.in_one)
        return found if is_less else None


def _asks_for_steps(op: ir.Operation) -> bool:
    return op.name in PRODUCTS and STEPS in op.attributes


def _do_as_asked(products: Sequence[ir.Operation]) -> None:
    """One step is what stands there already."""
    for product in products:
        if STEPS in product.attributes:
            del product.attributes[STEPS]

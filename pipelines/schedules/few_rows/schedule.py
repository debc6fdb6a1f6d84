"""The schedule of few rows times a large factor, which is read once, by all multiprocessors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

from ....dialects.mlir import arith
from ...lane_reduction import WARP_LANES
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..configuration import Chooser
from ..device import Device
from ..elements import ACCESS_BYTES, element_bytes
from ..kernels import ANY, Kernels
from ..launch import emit_launch
from ..size import MOST_IN_32_BITS, ONE
from ..work import Work
from .choice import are_for_tiles, choices, refusal
from .configuration import FewRowsConfiguration
from .kernel import FewRowsKernel
from .plan import FewRows, read_few_rows


def chooser(work: Work, kernels: Kernels, device: Device) -> FewRowsChooser | None:
    """Decides on the kernels; None where rows are not few, or little is read for each."""
    plan = None if device.lanes != WARP_LANES else read_few_rows(work)
    if plan is None:
        return None
    found = choices(plan, device)
    return FewRowsChooser(plan, found, kernels, device) if found else None


class FewRowsChooser(Chooser[FewRowsConfiguration]):
    """Kernels for so many rows at most, in buffers that vectors are read of."""

    takes_all = False

    def __init__(
        self,
        plan: FewRows,
        found: Sequence[FewRowsConfiguration],
        kernels: Kernels,
        device: Device,
    ) -> None:
        self.work = plan.work
        self._plan, self._found, self._kernels, self._device = plan, found, kernels, device

    def choices(self) -> Sequence[FewRowsConfiguration]:
        return self._found

    def refusal(self, made: FewRowsConfiguration) -> str | None:
        return refusal(self._plan, self._device, made)

    def alternatives(self) -> list[Alternative]:
        return [] if self._is_for_tiles else super().alternatives()

    def beside(self, others: Sequence[Alternative]) -> Sequence[Alternative]:
        """Of known rows, what is right for any layout: others are rare."""
        if self._is_for_tiles:
            return others
        return others[-1:] if self._plan.extent(self._plan.rows).is_known else others

    @cached_property
    def _is_for_tiles(self) -> bool:
        if not are_for_tiles(self._plan, self._device):
            return False
        # Imported late: few programs have such products.
        from ..contraction.schedule import chooser as contraction_chooser

        return contraction_chooser(self.work, self._kernels, self._device) is not None

    def require_few(self, found: Conditions) -> None:
        """Adds that there are no more rows than kernels are for."""
        most = max(made.rows for made in self._found)
        found.require_at_most(self._plan.extent(self._plan.rows), most)

    def alternative(self, made: FewRowsConfiguration) -> Alternative:
        def conditions(found: Conditions) -> None:
            _require(found, self._plan, made)

        return conditions, lambda: _launch(self._plan, made, self._kernels)


def _require(found: Conditions, plan: FewRows, made: FewRowsConfiguration) -> None:
    work = plan.work
    found.require(work.layouts_hold())
    found.require_at_most(plan.extent(plan.rows), made.rows)
    for extent in work.extents:
        found.require_at_least(extent, 1)
    for operand in work.operands:
        reach = work.open.sum(
            [stride * extent for stride, extent in zip(operand.strides, work.extents, strict=True)]
        )
        found.require_at_most(reach, MOST_IN_32_BITS)
    for operand in plan.summed:
        along, count = plan.run(operand, made)
        if along is None or count == 1:
            continue
        found.require_aligned(operand, min(count * element_bytes(operand.element), ACCESS_BYTES))
        found.require_multiple(work.extents[along], count)
        for loop, stride in enumerate(operand.strides):
            if loop != along and work.extents[loop] != ONE:
                found.require_multiple(stride, count)


def _launch(plan: FewRows, made: FewRowsConfiguration, kernels: Kernels) -> None:
    work = plan.work
    # Sums of more columns need more registers than a kernel for any sizes.
    group = work.group(ANY if made.columns == 1 else None)
    make = partial(FewRowsKernel, plan, made)
    kernel, found = kernels.of_work(
        work, made.threads, make, configuration=made.attribute, group=group
    )
    columns = work.open.value(plan.extent(plan.columns))
    blocks = arith.ceildivui(columns, index_constant(made.block_columns))
    arguments = found.parameters.arguments()
    emit_launch(kernel, blocks, made.threads, arguments, found.shared.bytes, overlaps=made.overlaps)

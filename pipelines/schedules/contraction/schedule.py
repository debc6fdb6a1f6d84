"""The contraction schedule: a tile of results a block, its factors through shared memory."""

from __future__ import annotations

from ....dialects.mlir import arith, ir
from ...rewriting import index_constant
from ..alternatives import Alternative, Conditions
from ..device import Device
from ..elements import element_bytes
from ..kernels import Kernels
from ..launch import emit_launch, operation_name
from ..parameters import Parameters
from ..size import Size, product
from ..work import Layout, Work
from .configuration import Configuration, choose
from .form import Form, abs_, places_of, read_form
from .kernel import ContractionKernel, Counts

# Places in buffers are counted in 32 bits.
_MOST = 2**31 - 1
# The first chips that copy to shared memory asynchronously (PTX ISA, "cp.async").
_ASYNCHRONOUS = 80
_COPIED_BYTES = (4, 8)
# Products of matrices of fewer multiplications are for schedules of reductions: see
# products/small.py, which has the most that come here.
_FEW_PRODUCTS = 1 << 22


def alternatives(work: Work, kernels: Kernels, device: Device) -> list[Alternative] | None:
    """The tiled kernel for the layout assumed, and for any; None for what is no contraction."""
    form = read_form(work)
    if form is None or not _is_taken(form, device):
        return None
    found = [_alternative(form, kernels, device)]
    if any(operand.is_assumed for operand in work.operands):
        other = read_form(work.in_layout(Layout.ANY))
        if other is not None and _is_taken(other, device):
            found.append(_alternative(other, kernels, device))
    return found


def _is_taken(form: Form, device: Device) -> bool:
    """Whether it is one that tiles are for: each factor's elements are used several times."""
    if device.capability < _ASYNCHRONOUS or not form.rows or not form.columns:
        return False
    if _is_matrix_product(form) and not _is_large(form):
        return False
    for factor in (form.first, form.second):
        if element_bytes(factor.element) not in _COPIED_BYTES or places_of(form, factor) is None:
            return False
        if factor.element != form.total:
            return False
    return True


def _is_matrix_product(form: Form) -> bool:
    """Whether factors are read at single loops' places, without padding."""
    maps = [
        ir.AffineMapAttr(attribute).value
        for attribute in ir.ArrayAttr(form.work.op.attributes["indexing_maps"])
    ]
    return all(
        factor.operand is not None and maps[factor.operand.number].is_projected_permutation
        for factor in (form.first, form.second)
    )


def _is_large(form: Form) -> bool:
    """Whether it certainly has many products: threads that sum by themselves do not suffice."""
    count = product(form.work.extents)
    return count.is_known and count.known > _FEW_PRODUCTS


def _alternative(form: Form, kernels: Kernels, device: Device) -> Alternative:
    work = form.work

    def conditions(found: Conditions) -> None:
        found.require(work.layouts_hold())
        for strides in [
            form.first.strides,
            form.second.strides,
            *(operand.strides for operand in work.operands),
        ]:
            reach = work.open.sum(
                [
                    abs_(stride) * extent
                    for stride, extent in zip(strides, work.extents, strict=True)
                ]
            )
            found.require_at_most(reach, _MOST)

    return conditions, lambda: _launch(form, kernels, choose(form, device))


def _launch(form: Form, kernels: Kernels, configuration: Configuration) -> None:
    work = form.work
    counts = Counts(
        _ceiling(work, form.extent(form.rows), configuration.rows),
        _ceiling(work, form.extent(form.columns), configuration.columns),
        form.extent(form.batch),
    )
    made: list[ContractionKernel] = []

    def emit(entry: ir.Block) -> None:
        kernel = ContractionKernel(form, configuration, counts, Parameters(entry, work.open))
        made.append(kernel)
        kernel.emit()

    attributes: dict[str, ir.Attribute] = {
        "nvvm.minctasm": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), configuration.resident)
    }
    kernel = kernels.build(
        operation_name(work.op), configuration.threads, emit, work.op.location, attributes
    )
    blocks = work.open.value(product([counts.rows, counts.columns, counts.batch]))
    emit_launch(
        kernel,
        blocks,
        configuration.threads,
        made[0].parameters.arguments(),
        made[0].shared.bytes,
    )


def _ceiling(work: Work, extent: Size, step: int) -> Size:
    if extent.is_known:
        return Size(-(-extent.known // step))
    value = arith.ceildivui(work.open.value(extent), index_constant(step))
    return work.open.size_of(value)

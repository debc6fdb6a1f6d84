"""keep-unwritten-elements: what a linalg.generic does not write of an output stays as it was."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.access import Access
from ..fusion.generic import GENERIC, accesses_of, has_tensors_only, inputs_of
from ..hir.access_checks import is_scattered
from ..pass_base import Pass, fail, register
from ..rewriting import copied
from ..tensors import dim_of
from ..walking import operations_where
from .select_host_programs import MARK


@register
@dataclass(frozen=True)
class KeepUnwrittenElements(Pass):
    """Has each linalg.generic on tensors write all elements of what it is given as outputs.

    Later passes take an output whose old elements the region does not read for one that is written
    as a whole. One that is indexed by constants becomes the slice that is written; one whose loops
    repeat, or are computed with, begins as a copy.

      %y = linalg.generic {indexing_maps = [(i) -> (i), (i) -> (2, i)], ...}
             ins(%x : tensor<4xf32>) outs(%w : tensor<3x4xf32>)
    becomes
      %row = tensor.extract_slice %w[2, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<1x4xf32>
      %new = linalg.generic {indexing_maps = [(i) -> (i), (i) -> (0, i)], ...}
               ins(%x : tensor<4xf32>) outs(%row : tensor<1x4xf32>)
      %y = tensor.insert_slice %new into %w[2, 0] [1, 4] [1, 1]
    """

    name: ClassVar[str] = "keep-unwritten-elements"

    def run(self, op: ir.Operation) -> None:
        for function in operations_where(op, lambda inner: MARK in inner.attributes):
            for work in operations_where(function, _is_generic):
                inputs = len(inputs_of(work))
                for place, output in enumerate(accesses_of(work)[inputs:], inputs):
                    if not output.is_whole and not is_scattered(work, place):
                        with work.location, ir.InsertionPoint(work):
                            _keep(work, place, output)


def _is_generic(op: ir.Operation) -> bool:
    return op.name == GENERIC and has_tensors_only(op)


def _keep(op: ir.Operation, place: int, output: Access) -> None:
    constants = {
        axis: each.value
        for axis, each in enumerate(output.index)
        if isinstance(each, ir.AffineConstantExpr)
    }
    loops = output.loops
    if len(constants) + len(loops) == len(output.index) and len(set(loops)) == len(loops):
        _write_slice(op, place, output, constants)
        return
    shape = ir.RankedTensorType(output.value.type).shape
    for axis, each in enumerate(output.index):
        if shape[axis] == DYNAMIC and not isinstance(each, int):
            fail(
                op,
                f"dim {axis} of an output has an open size and is not indexed by one loop alone: "
                "write its elements by tensor.insert or tensor.insert_slice",
            )
    op.operands[place] = copied(output.value)


def _write_slice(op: ir.Operation, place: int, output: Access, constants: dict[int, int]) -> None:
    """Has an output that is indexed by loops and constants be the slice that is written."""
    kind = ir.RankedTensorType(output.value.type)
    sizes = [1 if axis in constants else size for axis, size in enumerate(kind.shape)]
    open_sizes = [dim_of(output.value, axis) for axis, size in enumerate(sizes) if size == DYNAMIC]
    part = ir.RankedTensorType.get(sizes, kind.element_type)
    bounds = {
        "static_offsets": [constants.get(axis, 0) for axis in range(kind.rank)],
        "static_sizes": sizes,
        "static_strides": [1] * kind.rank,
    }
    attributes: dict[str, ir.Attribute] = {
        name: ir.DenseI64ArrayAttr.get(numbers) for name, numbers in bounds.items()
    }
    result = op.results[place - len(inputs_of(op))]
    taken = ir.Operation.create(
        "tensor.extract_slice",
        [part],
        [output.value, *open_sizes],
        {**attributes, "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(open_sizes), 0])},
    ).results[0]
    op.operands[place] = taken
    maps = list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    count = ir.AffineMapAttr(maps[place]).value.n_dims
    zero = ir.AffineExpr.get_constant(0)
    index = tuple(zero if axis in constants else each for axis, each in enumerate(output.index))
    maps[place] = ir.AffineMapAttr.get(Access(taken, index).map(count))
    op.attributes["indexing_maps"] = ir.ArrayAttr.get(maps)
    result.set_type(part)
    with ir.InsertionPoint.after(op):
        put = ir.Operation.create(
            "tensor.insert_slice",
            [kind],
            [result, output.value, *open_sizes],
            {
                **attributes,
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 0, len(open_sizes), 0]),
            },
        )
    result.replace_all_uses_except(put.results[0], put)

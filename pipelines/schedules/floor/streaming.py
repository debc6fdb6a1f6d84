"""The general schedule of operations that reduce or scan in their region, whatever they are.

A thread takes one point of the loops along which every output has elements of its own. In it each
reduction is a nest of serial loops, which reads the elements again and accumulates in registers;
then come nests that store the outputs. A scan's running value is carried by the nest that needs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....dialects.mlir import ir
from ...pass_base import fail
from ...walking import is_used
from ..iteration import read_iteration
from ..kernels import Kernels
from .dependence import Dependence
from .fused_region import FusedRegion
from .launch_points import replace_by_launch
from .points import emit_points, kernel_extent
from .scalar_program import Scope

THREADS = 128


def schedule(op: ir.Operation, kernels: Kernels) -> None:
    """Replaces a linalg.generic with collective operations by a launch of a kernel."""
    iteration = read_iteration(op)
    _check_outputs(op, iteration.inputs)

    def emit(buffers: Sequence[ir.Value], captured: Mapping[ir.Value, ir.Value]) -> None:
        sizes = [kernel_extent(iteration, buffers, loop) for loop in range(len(iteration.extents))]
        dependence = Dependence(op, iteration.maps)
        region = FusedRegion(op, iteration, dependence, list(buffers), sizes, captured)

        def at_point(indices: Sequence[ir.Value]) -> None:
            block = ir.InsertionPoint.current.block
            scope = Scope(region, block, dict(zip(iteration.parallel, indices, strict=True)))
            scope.store_outputs()

        emit_points([sizes[loop] for loop in iteration.parallel], THREADS, at_point)

    replace_by_launch(op, iteration, kernels, THREADS, emit)


def _check_outputs(op: ir.Operation, inputs: int) -> None:
    """Outputs are read neither before nor while they are written."""
    for argument in list(op.regions[0].blocks[0].arguments)[inputs:]:
        if is_used(argument):
            fail(
                op,
                f"the region reads output {argument.arg_number - inputs} beside collective "
                "operations; make what it begins with an input",
            )

"""`hir.launch`: launches a kernel."""

from ..mlir import ext, ir
from .dialect import Hir
from .kernel_function import does_not_fit, find_function, parameters_of
from .refusal import are_three_sizes, constant_value, numbers, refuse, whole_number
from .region_arguments import arguments_of, holds_only_arguments
from .structure import is_well_formed
from .symbols import lookup, path_of, written
from .value_types import StreamType


class LaunchOp(Hir.Operation, name="launch", traits=[ir.NoTerminatorTrait]):
    """Launches `kernel` on `stream`, or on the current one.

    The kernel is a hir.kernel or a gpu.func (`@module::@function`). Sizes may be run-time values;
    `shared_bytes` is dynamic shared memory. The region holds one hir.argument an argument;
    `cluster` (three sizes) is optional. With `overlaps` it may begin before the stream's last
    kernel has ended, for which the kernel waits itself (`nvvm.griddepcontrol`).

    Example:
      "hir.launch"(%blocks, %one, %one, %threads, %one, %one, %none) ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
      }) {kernel = @kernels::@scale}
        : (index, index, index, index, index, index, index) -> ()
    """

    kernel: ir.SymbolRefAttr
    grid_x: ext.Operand[ir.IndexType]
    grid_y: ext.Operand[ir.IndexType]
    grid_z: ext.Operand[ir.IndexType]
    block_x: ext.Operand[ir.IndexType]
    block_y: ext.Operand[ir.IndexType]
    block_z: ext.Operand[ir.IndexType]
    shared_bytes: ext.Operand[ir.IndexType]
    stream: ext.Operand[StreamType] | None
    arguments: ext.Region

    @staticmethod
    def verify_region_invariants(op: "LaunchOp") -> bool:
        if not holds_only_arguments(op, op.arguments) or not are_three_sizes(op, "cluster"):
            return False
        path = path_of(op.kernel)
        kernel = lookup(op, path)
        if len(path) == 1 and (kernel is None or kernel.name != "hir.kernel"):
            there = "nothing" if kernel is None else f"a {kernel.name}"
            return refuse(
                op,
                "hir.launch takes a hir.kernel or a gpu.func (@module::@function); "
                f"{written(path)} is {there}",
            )
        if kernel is not None and kernel.name == "hir.kernel":
            # What is wrong with the kernel itself, its own verifier says.
            if not is_well_formed(kernel):
                return True
            if not _sizes_agree(op, kernel.opview):
                return False
            path = path_of(kernel.attributes["function"])
            function = lookup(op, path)
            if function is None or function.name != "gpu.func":
                return True
        else:
            function = find_function(op, path)
        return function is not None and _sizes_are_possible(op) and _takes(op, function, path)


def _sizes_agree(op: LaunchOp, kernel: ir.OpView) -> bool:
    """Returns whether the launch has the block, cluster and shared memory that the hir.kernel
    states.
    """
    name = written([ir.StringAttr(kernel.attributes["sym_name"]).value])
    block = [constant_value(size) for size in (op.block_x, op.block_y, op.block_z)]
    stated = numbers(kernel.attributes["block"]) if "block" in kernel.attributes else None
    for dim, (size, wanted) in enumerate(zip(block, stated or block, strict=False)):
        if size is not None and size != wanted:
            return refuse(
                op, f"{name} has blocks of {stated} threads; dim {dim} of this launch's has {size}"
            )
    if "cluster" in op.attributes and "cluster" in kernel.attributes:
        here, there = op.attributes["cluster"], kernel.attributes["cluster"]
        if here != there:
            return refuse(op, f"{name} has 'cluster' = {there}; this launch has {here}")
    shared, stated_bytes = constant_value(op.shared_bytes), whole_number(kernel, "shared_bytes")
    if None not in (shared, stated_bytes) and shared != stated_bytes:
        return refuse(
            op,
            f"{name} has {stated_bytes} bytes of dynamic shared memory; this launch has {shared}",
        )
    return True


def _sizes_are_possible(op: LaunchOp) -> bool:
    grid = (op.grid_x, op.grid_y, op.grid_z)
    block = (op.block_x, op.block_y, op.block_z)
    for what, sizes, least in (
        ("the grid", grid, 0),
        ("the block", block, 1),
        ("dynamic shared memory", (op.shared_bytes,), 0),
    ):
        for size in sizes:
            value = constant_value(size)
            if value is not None and value < least:
                return refuse(op, f"a size of {what} is {least} or more, not {value}")
    return True


def _takes(op: LaunchOp, function: ir.Operation, path: list[str]) -> bool:
    arguments, parameters = arguments_of(op.arguments), parameters_of(function)
    if len(arguments) != len(parameters):
        return refuse(
            op, f"{written(path)} takes {len(parameters)} arguments, not {len(arguments)}"
        )
    for number, (argument, parameter) in enumerate(zip(arguments, parameters, strict=True)):
        reason = does_not_fit(argument.operands[0].type, parameter)
        if reason is not None:
            return refuse(argument, f"argument {number} of {written(path)}: {reason}")
    return True

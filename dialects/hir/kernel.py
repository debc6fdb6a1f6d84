"""`hir.kernel`: names a gpu function for launches."""

from ..mlir import ir
from .dialect import Hir
from .kernel_function import find_function, parameters_of
from .refusal import are_three_sizes, numbers, refuse, whole_number
from .symbols import path_of


class KernelOp(Hir.Operation, name="kernel"):
    """Names the gpu.func `function` and what its launches have in common.

    Attributes, each optional: `block` and `cluster` (three sizes each), `shared_bytes`, `writes`
    (the numbers of the arguments it writes; without it, any buffer may be written).

    Example:
      "hir.kernel"() {sym_name = "scale", function = @kernels::@scale, writes = array<i64: 1>}
        : () -> ()
    """

    sym_name: ir.StringAttr
    function: ir.SymbolRefAttr

    @staticmethod
    def verify_invariants(op: "KernelOp") -> bool:
        if not op.sym_name.value:
            return refuse(op, "hir.kernel has a name; 'sym_name' is empty")
        parent = op.operation.parent
        if parent is not None and parent.name != "builtin.module":
            return refuse(op, f"hir.kernel stands in a builtin.module, not in {parent.name}")
        function = find_function(op, path_of(op.function))
        if function is None:
            return False
        if not are_three_sizes(op, "block") or not are_three_sizes(op, "cluster"):
            return False
        shared = whole_number(op, "shared_bytes")
        if "shared_bytes" in op.attributes and (shared is None or shared < 0):
            return refuse(op, f"'shared_bytes' is 0 or more, not {op.attributes['shared_bytes']}")
        return _writes_buffers(op, parameters_of(function))


def _writes_buffers(op: KernelOp, parameters: list[ir.Type]) -> bool:
    if "writes" not in op.attributes:
        return True
    writes = numbers(op.attributes["writes"])
    if writes is None or len(set(writes)) != len(writes):
        return refuse(
            op,
            "'writes' is the numbers of the arguments the kernel writes, each once, as "
            f"array<i64: ...>, not {op.attributes['writes']}",
        )
    for number in writes:
        if not 0 <= number < len(parameters):
            return refuse(
                op,
                f"'writes' names argument {number}, but the kernel has {len(parameters)} "
                "arguments, numbered from 0",
            )
        if not isinstance(parameters[number], ir.MemRefType):
            return refuse(
                op, f"'writes' names argument {number}, a {parameters[number]}: it lists buffers"
            )
    return True

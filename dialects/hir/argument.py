"""`hir.argument`: one argument of a call or launch."""

from typing import Any

from ..mlir import ext
from .dialect import Hir
from .refusal import refuse, whole_number
from .values import not_a_value

# How a kernel's copies by tensor maps see memory: made of a buffer for a launch.
_TENSOR_MAP = "!nvgpu.tensormap.descriptor<"
_PARENTS = ("hir.call", "hir.host_call", "hir.launch", "hir.run_launcher")


class ArgumentOp(Hir.Operation, name="argument"):
    """One argument of the enclosing hir.call, hir.host_call, hir.launch or hir.run_launcher.

    With `destination = i`, of hir.call alone, it is the buffer for the callee's output `i`.

    Example:
      "hir.argument"(%x) : (memref<?xf32>) -> ()
    """

    value: ext.Operand[Any]

    @staticmethod
    def verify_invariants(op: "ArgumentOp") -> bool:
        parent = op.operation.parent
        if parent is None or parent.name not in _PARENTS:
            return refuse(
                op,
                "hir.argument stands in the region of a hir.call, hir.host_call or hir.launch, not "
                f"in {parent.name if parent is not None else 'nothing'}",
            )
        if parent.name == "hir.launch" and str(op.value.type).startswith(_TENSOR_MAP):
            return True
        reason = not_a_value(op.value.type)
        if reason is not None:
            return refuse(op, f"the argument, {op.value.type}, {reason}")
        if "destination" not in op.attributes:
            return True
        if parent.name != "hir.call":
            return refuse(
                op,
                "'destination' is for arguments of hir.call; what "
                f"{parent.name} writes goes to any buffer it is given: leave it out",
            )
        number = whole_number(op, "destination")
        if number is None or number < 0:
            return refuse(
                op, f"'destination' is the number of an output, not {op.attributes['destination']}"
            )
        return True

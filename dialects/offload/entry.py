"""`offload.entry`: a kernel or device variable that the host names."""

from enum import StrEnum

from ..mlir import ir
from .dialect import Offload, has_attributes

SymbolRef = ir.FlatSymbolRefAttr
String = ir.StringAttr
Integer = ir.IntegerAttr


class EntryKind(StrEnum):
    """What an entry names. `constant` is a variable in constant memory."""

    KERNEL = "kernel"
    GLOBAL = "global"
    CONSTANT = "constant"


class EntryOp(Offload.Operation, name="entry"):
    """A device symbol and the host symbol that stands for it.

    `device_name` is the symbol in the device code, `host` the host symbol whose address the CUDA
    runtime takes for it, `size` the variable's bytes (0 for a kernel).

    Example:
      "offload.entry"() {device_name = "axpy", host = @axpy_stub, kind = "kernel", size = 0 : i64}
        : () -> ()
    """

    device_name: String
    host: SymbolRef
    kind: String
    size: Integer

    @staticmethod
    def verify_invariants(op: "EntryOp") -> bool:
        if not has_attributes(op, kind=String, size=Integer):
            return True
        kind = op.kind.value
        if kind not in set(EntryKind):
            op.location.emit_error(
                f"offload.entry kind is one of {', '.join(EntryKind)}, not '{kind}'"
            )
            return False
        if (kind == EntryKind.KERNEL) != (op.size.value == 0):
            op.location.emit_error(
                "offload.entry of a kernel has size 0, of a variable its bytes; "
                f"this {kind} has size {op.size.value}"
            )
            return False
        return True

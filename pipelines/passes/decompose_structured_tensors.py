"""decompose-structured-tensors: linalg operations that are several loop nests become those."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import apply_transform, ir
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..walking import operations_where

_WINOGRAD = (
    "linalg.winograd_filter_transform",
    "linalg.winograd_input_transform",
    "linalg.winograd_output_transform",
)
_OPERATIONS = ("linalg.softmax", "linalg.pack", "linalg.unpack", *_WINOGRAD)

_SCRIPT = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @decompose(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.softmax"]} in %root
      : (!transform.any_op) -> !transform.any_op
    %1 = transform.structured.decompose_interface %0 : (!transform.any_op) -> !transform.any_op
    %2 = transform.structured.match ops{[WINOGRAD]} in %root
      : (!transform.any_op) -> !transform.any_op
    %3 = transform.structured.decompose_winograd_op %2 : (!transform.any_op) -> !transform.any_op
    %4 = transform.structured.match ops{["linalg.pack"]} in %root
      : (!transform.any_op) -> !transform.op<"linalg.pack">
    transform.structured.lower_pack %4 : (!transform.op<"linalg.pack">)
      -> (!transform.op<"tensor.pad">, !transform.op<"tensor.expand_shape">,
          !transform.op<"linalg.transpose">)
    %5 = transform.structured.match ops{["linalg.unpack"]} in %root
      : (!transform.any_op) -> !transform.op<"linalg.unpack">
    transform.structured.lower_unpack %5 : (!transform.op<"linalg.unpack">)
      -> (!transform.op<"tensor.empty">, !transform.op<"linalg.transpose">,
          !transform.op<"tensor.collapse_shape">, !transform.op<"tensor.extract_slice">,
          !transform.op<"linalg.copy">)
    transform.yield
  }
}
""".replace("WINOGRAD", ", ".join(f'"{name}"' for name in _WINOGRAD))


@register
@dataclass(frozen=True)
class DecomposeStructuredTensors(Pass):
    """Turns linalg.softmax, pack, unpack and the Winograd transforms into simpler operations.

    Each is more than one loop nest, so none has a linalg.generic of its own. What comes out are
    linalg and tensor operations, in loops for Winograd's. By upstream's transform dialect. Takes
    func.funcs.

      %y = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
    becomes the maximum of each row, the exponentials, their sum, and the quotients.
    """

    name: ClassVar[str] = "decompose-structured-tensors"

    def run(self, op: ir.Operation) -> None:
        found = operations_where(op, lambda inner: inner.name in _OPERATIONS)
        if not found:
            return
        for work in found:
            if not len(work.results):
                fail(work, f"{work.name} on buffers has no kernel: use it on tensors")
        script = ir.Module.parse(_SCRIPT, op.context)
        try:
            apply_transform(op, script.body.operations[0].operation, script.operation)
        except ValueError:
            fail(found[0], f"{found[0].name} cannot be decomposed; write it as linalg.generic")
        for work in operations_where(op, lambda inner: inner.name in _OPERATIONS):
            fail(work, f"{work.name} cannot be decomposed; write it as linalg.generic")

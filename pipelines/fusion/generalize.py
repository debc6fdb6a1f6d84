"""Named linalg operations that work element by element, or reduce, become linalg.generics."""

from __future__ import annotations

from ...dialects.mlir import apply_transform, ir
from ..walking import operations_where
from .generic import has_tensors_only

# Products and convolutions stay as they are: they have kernels of their own.
_NAMES = (
    "abs add broadcast ceil copy div div_unsigned elementwise erf exp floor log map max min mul "
    "negf powf reciprocal reduce round rsqrt select sqrt square sub tanh transpose"
)
NAMES = tuple(f"linalg.{name}" for name in _NAMES.split())
_POOLINGS = "linalg.pooling_"
# Marks the poolings: these have many names.
_POOLING = "hir.pooling"

_SCRIPT = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @generalize(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{[NAMES]} in %root
      : (!transform.any_op) -> !transform.any_op
    %1 = transform.structured.generalize %0 : (!transform.any_op) -> !transform.any_op
    %2 = transform.structured.match attributes {POOLING} in %root
      : (!transform.any_op) -> !transform.any_op
    %3 = transform.structured.generalize %2 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
""".replace("NAMES", ", ".join(f'"{name}"' for name in NAMES)).replace("POOLING", _POOLING)


def generalize(root: ir.Operation) -> None:
    """Turns the named operations on tensors within `root` into linalg.generics."""
    poolings = operations_where(
        root, lambda op: op.name.startswith(_POOLINGS) and has_tensors_only(op)
    )
    for op in poolings:
        op.attributes[_POOLING] = ir.UnitAttr.get()
    if not poolings and not operations_where(
        root, lambda op: op.name in NAMES and has_tensors_only(op)
    ):
        return
    script = ir.Module.parse(_SCRIPT, root.context)
    apply_transform(root, script.body.operations[0].operation, script.operation)

"""The scalar emitter of a kind for an element type."""

from __future__ import annotations

from ....dialects.hir.element_types import ElementType
from ....dialects.mlir import arith, ir
from ...pass_base import fail
from .floats import FLOATS
from .integers import SIGNED, UNSIGNED, Emitter
from .truths import TRUTHS

_TABLES = {"float": FLOATS, "signed": SIGNED, "unsigned": UNSIGNED, "truth": TRUTHS}


def find_emitter(op: ir.Operation, kind: str, element: ElementType) -> Emitter:
    """Returns what computes a kind from operands in the computing type of `element`."""
    if kind == "where":
        return arith.select
    emitter = _TABLES.get(element.kind, {}).get(kind)
    if emitter is None:
        fail(op, f"{op.name} '{kind}' does not compute with {element.name}")
    return emitter

"""Undoes what torch-mlir adds to a program that torch's does not have."""

from __future__ import annotations

from ...dialects.mlir import ir
from ...pipelines.walking import operations_where

# It asserts that no element is 0 of which it takes the reciprocal, where torch's is inf.
_ZERO_ELEMENT = "unimplemented: tensor with zero element"


def tidy(module: ir.Operation) -> None:
    """Erases the assertions that torch does not make."""
    for op in operations_where(module, _is_added):
        op.erase()


def _is_added(op: ir.Operation) -> bool:
    return op.name == "cf.assert" and ir.StringAttr(op.attributes["msg"]).value == _ZERO_ELEMENT

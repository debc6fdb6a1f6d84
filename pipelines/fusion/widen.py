"""f16, bf16 and f8 values of a region are computed with in f32.

They are extended where they are read, and rounded where they are stored or where the program
rounds them itself; what lies between is not rounded, so that more is exact and less is converted.
"""

from __future__ import annotations

from ...dialects.mlir import ir
from ..rewriting import constant
from ..walking import is_used
from .accumulators import MARK

_COMPUTES = (
    "arith.addf",
    "arith.cmpf",
    "arith.divf",
    "arith.maximumf",
    "arith.maxnumf",
    "arith.minimumf",
    "arith.minnumf",
    "arith.mulf",
    "arith.negf",
    "arith.remf",
    "arith.select",
    "arith.subf",
)


def widen(op: ir.Operation) -> None:
    """Computes in f32 what the region of a linalg.generic computes in a narrower type."""
    block = op.regions[0].blocks[0]
    wide = _Wide()
    for inner in [each.operation for each in block][:-1]:
        if inner.name == "arith.extf":
            wide.extend(inner)
        elif inner.name == "arith.truncf":
            wide.round(inner)
        elif inner.name in _COMPUTES or inner.name.startswith("math."):
            wide.compute(inner)
    for inner in reversed([each.operation for each in block]):
        if inner.name in ("arith.truncf", "arith.extf") and not is_used(inner.result):
            inner.erase()


class _Wide:
    """The values in f32 that narrow ones are rounded from."""

    def __init__(self) -> None:
        self._of: dict[ir.Value, ir.Value] = {}

    def compute(self, op: ir.Operation) -> None:
        """Replaces an operation on narrow values by one on wide ones, and its rounding."""
        if not any(_is_narrow(value) for value in (*op.operands, *op.results)):
            return
        with op.location, ir.InsertionPoint(op):
            new = ir.Operation.create(
                op.name,
                results=[_wide(result) for result in op.results],
                operands=[self._get(value) for value in op.operands],
                attributes={name: op.attributes[name] for name in op.attributes},
            )
            for old, value in zip(op.results, new.results, strict=True):
                if _is_narrow(old):
                    rounded = _cast("arith.truncf", value, old.type)
                    self._of[rounded] = value
                    value = rounded
                old.replace_all_uses_with(value)
        op.erase()

    def extend(self, op: ir.Operation) -> None:
        """Replaces an extension of what is there in f32."""
        value = self._of.get(op.operands[0])
        if value is None:
            return
        kind = op.results[0].type
        with op.location, ir.InsertionPoint(op):
            if kind != value.type:
                value = _cast("arith.extf", value, kind)
        op.results[0].replace_all_uses_with(value)
        op.erase()

    def round(self, op: ir.Operation) -> None:
        """Takes note of the rounding of an accumulated value, which is as good without."""
        if MARK in op.attributes:
            del op.attributes[MARK]
            if op.operands[0].type == ir.F32Type.get():
                self._of[op.results[0]] = op.operands[0]

    def _get(self, value: ir.Value) -> ir.Value:
        if not _is_narrow(value):
            return value
        if value not in self._of:
            self._of[value] = _constant(value) or _cast("arith.extf", value, ir.F32Type.get())
        return self._of[value]


def _is_narrow(value: ir.Value) -> bool:
    return isinstance(value.type, ir.FloatType) and value.type.width < 32


def _wide(result: ir.Value) -> ir.Type:
    return ir.F32Type.get() if _is_narrow(result) else result.type


def _constant(value: ir.Value) -> ir.Value | None:
    if isinstance(value.owner, ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    attribute = value.owner.operation.attributes["value"]
    return constant(ir.F32Type.get(), ir.FloatAttr(attribute).value)


def _cast(name: str, value: ir.Value, kind: ir.Type) -> ir.Value:
    return ir.Operation.create(name, results=[kind], operands=[value]).results[0]

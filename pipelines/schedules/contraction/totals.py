"""Sums of vectors that are set aside: what the terms before come to."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.mlir import arith, ir, scf
from ...rewriting import constant
from ..elements import element_bytes
from .indices import byte, number


class Totals:
    """A thread's totals in local memory, to which its sums are added after so many terms.

    Values that live through the loop over steps would take registers from it: where ptxas put them
    into local memory itself, it loaded each factor just before its use, and the loop took 8 %
    longer. Volatile accesses keep them there. What has sums and totals is known at run time, by two
    flags: a single piece of a sum touches no memory.
    """

    def __init__(self, kinds: Sequence[ir.Type]) -> None:
        self._kinds = kinds
        self._bytes = [_bytes(kind) for kind in kinds]
        i64 = ir.IntegerType.get_signless(64)
        self._alignment = ir.IntegerAttr.get(i64, max(self._bytes))
        self._memory = ir.Operation.create(
            "llvm.alloca",
            results=[ir.Type.parse("!llvm.ptr")],
            operands=[constant(i64, sum(self._bytes))],
            attributes={
                "elem_type": ir.TypeAttr.get(ir.IntegerType.get_signless(8)),
                "alignment": self._alignment,
            },
        ).results[0]

    def start(self) -> list[ir.Value]:
        """Returns the flags, neither of which is set."""
        no = constant(ir.IntegerType.get_signless(1), 0)
        return [no, no]

    def set_aside(self, sums: Sequence[ir.Value], flags: Sequence[ir.Value]) -> list[ir.Value]:
        """Adds the sums, if there are any, to the totals. Returns the flags for sums to come."""
        has_sums, has_totals = flags
        guard = scf.IfOp(has_sums)
        with ir.InsertionPoint(guard.then_block):
            self._store(self.added(sums, flags))
            scf.YieldOp([])
        return [constant(has_sums.type, 1), arith.ori(has_sums, has_totals)]

    def added(self, sums: Sequence[ir.Value], flags: Sequence[ir.Value]) -> list[ir.Value]:
        """Returns the sums with what was set aside."""
        _, has_totals = flags
        branch = scf.IfOp(has_totals, [*self._kinds], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            pairs = zip(self._load(), sums, strict=True)
            scf.YieldOp([arith.addf(total, each) for total, each in pairs])
        assert branch.else_block is not None
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp([*sums])
        return list(branch.results)

    def _store(self, values: Sequence[ir.Value]) -> None:
        for value, place in zip(values, self._places(), strict=True):
            ir.Operation.create(
                "llvm.store", operands=[value, place], attributes=self._access_attributes
            )

    def _load(self) -> list[ir.Value]:
        return [
            ir.Operation.create(
                "llvm.load", results=[kind], operands=[place], attributes=self._access_attributes
            ).results[0]
            for kind, place in zip(self._kinds, self._places(), strict=True)
        ]

    @property
    def _access_attributes(self) -> dict[str, ir.Attribute]:
        return {"alignment": self._alignment, "volatile_": ir.UnitAttr.get()}

    def _places(self) -> list[ir.Value]:
        starts = [sum(self._bytes[:place]) for place in range(len(self._bytes))]
        return [byte(self._memory, number(start)) for start in starts]


def _bytes(kind: ir.Type) -> int:
    vector = ir.VectorType(kind)
    return vector.shape[0] * element_bytes(vector.element_type)

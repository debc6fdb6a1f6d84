"""Putting the region of a new linalg.generic together from those of others."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import ir
from ..rewriting import index_constant
from ..walking import is_used, operations_where
from .access import Access
from .generic import COLLECTIVE

_PURE = (
    "arith.",
    "math.",
    "tensor.",
    "complex.",
    "index.",
    "affine.apply",
    "linalg.index",
    "hir.matrix_element",
)


class Region:
    """A region in the making: equal inputs and equal operations are there once.

    It takes the operations of other regions over; what they came from is to be erased.
    """

    def __init__(self) -> None:
        # A block lives in some operation; this one is never part of the program.
        self._holder = ir.Operation.create("scf.execute_region", regions=1, ip=False)
        self.block = self._holder.regions[0].blocks.append()
        self.inputs: list[Access] = []
        self._arguments: dict[tuple[ir.Value, str], ir.Value] = {}
        self._known: dict[tuple[object, ...], ir.Operation] = {}

    def input(self, read: Access, loops: int) -> ir.Value:
        """Returns the element that an access reads, as a value of the region."""
        key = (read.value, str(read.map(loops)))
        if key not in self._arguments:
            self.inputs.append(read)
            self._arguments[key] = self.block.add_argument(_element(read), read.value.location)
        return self._arguments[key]

    def absorb(
        self,
        op: ir.Operation,
        arguments: Sequence[ir.Value | None],
        loops: Sequence[int | None],
    ) -> list[ir.Value]:
        """Takes over the operations of a linalg.generic; returns what it yields.

        `arguments` are the values its block arguments stand for (None: not used), `loops` the
        loops that its loops are here (None: one iteration).
        """
        block = op.regions[0].blocks[0]
        for old, new in zip(block.arguments, arguments, strict=True):
            if new is not None:
                old.replace_all_uses_with(new)
        *work, end = [inner.operation for inner in block]
        for inner in work:
            self.block.append(inner)
            _rename_loops(inner, loops)
            known = self._equal(inner)
            if known is not None:
                for old, new in zip(inner.results, known.results, strict=True):
                    old.replace_all_uses_with(new)
                inner.erase()
        yielded = list(end.operands)
        end.erase()
        return yielded

    def finish(self, outputs: Sequence[Access], yielded: Sequence[ir.Value]) -> None:
        """Adds the outputs' arguments and the end, and drops what nothing uses."""
        for each in outputs:
            self.block.add_argument(_element(each), each.value.location)
        with ir.InsertionPoint(self.block):
            ir.Operation.create("linalg.yield", operands=list(yielded))
        for inner in reversed([each.operation for each in self.block][:-1]):
            if is_pure(inner) and not any(map(is_used, inner.results)):
                inner.erase()

    def _equal(self, op: ir.Operation) -> ir.Operation | None:
        """Returns an operation that is there already and does the same, if there is one."""
        if not (is_pure(op) or op.name == "cf.assert"):
            return None
        attributes = tuple(sorted((name, str(op.attributes[name])) for name in op.attributes))
        results = tuple(str(result.type) for result in op.results)
        known = self._known.setdefault((op.name, attributes, tuple(op.operands), results), op)
        return None if known == op else known


def is_pure(op: ir.Operation) -> bool:
    """Returns whether an operation of a region does nothing but give its results."""
    if len(op.regions):
        return False
    return op.name.startswith(_PURE) or op.name in COLLECTIVE


def _element(each: Access) -> ir.Type:
    return ir.RankedTensorType(each.value.type).element_type


def _rename_loops(op: ir.Operation, loops: Sequence[int | None]) -> None:
    """Makes linalg.index and collective operations within `op` name the new loops."""
    for index in operations_where(op, lambda inner: inner.name == "linalg.index"):
        new = loops[ir.IntegerAttr(index.attributes["dim"]).value]
        if new is not None:
            index.attributes["dim"] = _number(new)
        else:
            with index.location, ir.InsertionPoint(index):
                index.results[0].replace_all_uses_with(index_constant(0))
            if index != op:
                index.erase()
    if op.name == "hir.scan_loop":
        op.attributes["loop"] = _number(loops[ir.IntegerAttr(op.attributes["loop"]).value])
    elif op.name in COLLECTIVE:
        old = list(ir.DenseI64ArrayAttr(op.attributes["loops"]))
        new = [loops[each] for each in old]
        op.attributes["loops"] = ir.DenseI64ArrayAttr.get(
            [each for each in new if each is not None]
        )


def _number(loop: int | None) -> ir.IntegerAttr:
    assert loop is not None
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loop)

"""The dialect object that operations and types register with."""

from collections.abc import Callable, Sequence
from typing import Any

from ..mlir import ext, ir, irdl
from .structure import checked


class Hir(ext.Dialect, name="hir"):
    """Host IR: the host side of a tensor program (see docs/host-ir.md)."""


class _Operation(ext.Operation):
    """Reads optional and repeated operands and results by their number.

    The base class asks for an attribute of segment sizes wherever one field is not single. IRDL
    asks for it only where two are, and with one the text is easier to write without.

    MLIR calls a class's verifier before IRDL's own, so what the class declares is checked first.
    """

    @classmethod
    def __init_subclass__(cls, *, name: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(name=name, **kwargs)
        if name is not None:
            verify = getattr(cls, "verify_invariants", None)
            cls.verify_invariants = staticmethod(checked(f"hir.{name}", cls._fields, verify))

    @classmethod
    def _generate_operand_properties(cls, operands: Sequence[Any]) -> None:
        def read(op: ir.OpView) -> tuple[Sequence[ir.Value], str]:
            return op.operation.operands, "operandSegmentSizes"

        _generate(cls, operands, read)

    @classmethod
    def _generate_result_properties(cls, results: Sequence[Any]) -> None:
        def read(op: ir.OpView) -> tuple[Sequence[ir.Value], str]:
            return op.operation.results, "resultSegmentSizes"

        _generate(cls, results, read)


# The class that Hir's own operations derive from, in place of the one ext makes.
Hir.Operation = type("Operation", (_Operation,), {}, dialect=Hir)  # pyright: ignore[reportAttributeAccessIssue]


def _generate(
    cls: type, fields: Sequence[Any], read: Callable[[ir.OpView], tuple[Sequence[ir.Value], str]]
) -> None:
    """Gives `cls` a property for each of its operand or result fields."""
    variadicities = [field.variadicity for field in fields]
    single = irdl.Variadicity.single
    others = [number for number, kind in enumerate(variadicities) if kind != single]

    def segment(op: ir.OpView, number: int) -> list[ir.Value]:
        values, attribute = read(op)
        sizes = [1] * len(fields)
        if len(others) == 1:
            sizes[others[0]] = len(values) - len(fields) + 1
        elif others:
            sizes = list(ir.DenseI32ArrayAttr(op.operation.attributes[attribute]))
        first = sum(sizes[:number])
        return [values[place] for place in range(first, first + sizes[number])]

    def getter(number: int) -> Callable[[ir.OpView], Any]:
        def get(op: ir.OpView) -> Any:
            found = segment(op, number)
            if variadicities[number] == single:
                return found[0]
            if variadicities[number] == irdl.Variadicity.optional:
                return found[0] if found else None
            return found

        return get

    for number, field in enumerate(fields):
        setattr(cls, field.name, property(getter(number)))

"""The form of an operation: as many operands, results and regions as its class declares, and its
attributes, which a verifier then reads without asking.
"""

from collections.abc import Callable, Sequence
from typing import Any

from ..mlir import ext, ir, irdl
from ..records import dataclass
from .refusal import refuse

_KINDS: dict[type[ir.Attribute], str] = {
    ir.StringAttr: "a string",
    ir.IntegerAttr: "an integer",
    ir.TypeAttr: "a type",
    ir.ArrayAttr: "an array",
    ir.SymbolRefAttr: "a symbol (@name)",
    ir.FlatSymbolRefAttr: "a symbol (@name)",
}
# What the bindings say of an attribute that Python has no class for, and what it is.
_UNREADABLE = {
    "Can't cast unknown element type": "an array of a type that no attribute of it is of; arrays "
    "are array<i64: ...>",
    "(arg: torch_mlir._mlir_libs._mlir.ir.Location": "a location for an attribute; none of its "
    "attributes is one",
}


@dataclass(frozen=True)
class Structure:
    """The least and the most operands and results, the regions, and the attributes' classes.

    A `most` of None is no bound.
    """

    operands: tuple[int, int | None]
    results: tuple[int, int | None]
    regions: int
    attributes: tuple[tuple[str, type[ir.Attribute]], ...]

    def fault(self, op: ir.Operation) -> str | None:
        """Returns what of `op` is not of this form; None where all is."""
        for verb, what, count, (least, most) in (
            ("takes", "operand", len(op.operands), self.operands),
            ("has", "result", len(op.results), self.results),
            ("has", "region", len(op.regions), (self.regions, self.regions)),
        ):
            if count < least or (most is not None and count > most):
                return f"{op.name}: it {verb} {_counted(what, least, most)}, not {count}"
        attributes = op.attributes
        for key, wanted in self.attributes:
            found = attributes.get(key, None)
            # A symbol of one name is of a class of its own.
            nested = wanted is ir.SymbolRefAttr and isinstance(found, ir.FlatSymbolRefAttr)
            if not (nested or isinstance(found, wanted)):
                kind = _KINDS.get(wanted, "an attribute")
                return f"{op.name}: {key} is {kind}, not {'left out' if found is None else found}"
        return None


# By the operation's name.
_STRUCTURES: dict[str, Structure] = {}


def checked(
    name: str, fields: Sequence[Any], verify: Callable[[ir.OpView], bool] | None
) -> Callable[[ir.OpView], bool]:
    """Returns the verifier of an operation that asks for the form its fields declare before
    `verify`.
    """
    structure = _STRUCTURES[name] = _structure_of(fields)

    def verify_invariants(op: ir.OpView) -> bool:
        try:
            fault = structure.fault(op.operation)
            if fault is not None:
                return refuse(op, fault)
            return verify is None or verify(op)
        except TypeError as error:
            said = str(error)
            found = next((what for text, what in _UNREADABLE.items() if text in said), None)
            if found is None:
                raise
            return refuse(op, f"{op.operation.name} has {found}")

    return verify_invariants


def is_well_formed(op: ir.Operation) -> bool:
    """Returns whether an operation of the dialect that is not verified yet has the form of its
    class.
    """
    structure = _STRUCTURES.get(op.name)
    return structure is None or structure.fault(op) is None


def _structure_of(fields: Sequence[Any]) -> Structure:
    operands, attributes, results, regions = ext.partition_fields(list(fields))
    classes = tuple(
        (each.name, ir.Attribute if each.constraint is Any else each.constraint)
        for each in attributes
    )
    return Structure(_range(operands), _range(results), len(regions), classes)


def _range(fields: Sequence[Any]) -> tuple[int, int | None]:
    kinds = [field.variadicity for field in fields]
    most = None if irdl.Variadicity.variadic in kinds else len(kinds)
    return kinds.count(irdl.Variadicity.single), most


def _counted(what: str, least: int, most: int | None) -> str:
    if most is None:
        return f"{least} or more {what}s"
    amount = str(least) if least == most else f"{least} to {most}"
    return f"{amount} {what}" + ("" if most == 1 else "s")

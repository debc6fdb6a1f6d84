"""Functions that are only declared while torch-mlir lowers what calls them, and then defined.

Control flow and what torch-mlir does not lower are imported as calls of such functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dialects.mlir import ir
from ...dialects.records import dataclass

DYNAMIC = ir.ShapedType.get_dynamic_size()
_KIND = "control.kind"
_BODIES = "control.bodies"
# How many operands are carried, and how many gone through.
_COUNTS = "control.counts"
# Of each result the operand and axis that each open dim is as long as, flattened; -1: the loop's.
_SIZES = "control.sizes"
# What a tensor is filled with, or which numbers are drawn.
_VALUE = "control.value"


@dataclass(frozen=True)
class Declared:
    """A declared function: its kind, what it is about, and the arguments that define it.

    `bodies` are names of functions. `counts` says how many operands a loop carries and how many it
    goes through, or is a dim and 0. `sizes` has for each result the operand and the axis that each
    dim is as long as, flattened; -1 where there is none. `value` is what else there is to know.
    """

    function: ir.Operation
    arguments: Sequence[ir.Value]
    results: Sequence[ir.Type]

    @property
    def kind(self) -> str:
        return ir.StringAttr(self.function.attributes[_KIND]).value

    @property
    def bodies(self) -> list[str]:
        names = ir.ArrayAttr(self.function.attributes[_BODIES])
        return [ir.FlatSymbolRefAttr(each).value for each in names]

    @property
    def counts(self) -> tuple[int, int]:
        first, second = ir.DenseI64ArrayAttr(self.function.attributes[_COUNTS])
        return first, second

    def sizes(self, result: int) -> list[int]:
        return list(ir.DenseI64ArrayAttr(ir.ArrayAttr(self.function.attributes[_SIZES])[result]))

    @property
    def value(self) -> ir.Attribute:
        return self.function.attributes[_VALUE]

    @property
    def word(self) -> str:
        """The value, a string."""
        return ir.StringAttr(self.value).value


def is_declared(function: ir.Operation) -> bool:
    """Returns whether a function is one of these, and not yet defined."""
    return _KIND in function.attributes


def declare(
    module: ir.Operation,
    name: str,
    kind: str,
    types: tuple[Sequence[ir.Type], Sequence[ir.Type]],
    bodies: Sequence[str],
    counts: tuple[int, int],
    sizes: Sequence[Sequence[int]],
    value: ir.Attribute | None,
) -> None:
    """Adds a function to a module that takes and gives `types`; see `Declared` for the others."""
    function = ir.Operation.create(
        "func.func",
        attributes={
            "sym_name": ir.StringAttr.get(name),
            "sym_visibility": ir.StringAttr.get("private"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get([*types[0]], [*types[1]])),
            _KIND: ir.StringAttr.get(kind),
            _BODIES: ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(each) for each in bodies]),
            _COUNTS: ir.DenseI64ArrayAttr.get([*counts]),
            _SIZES: ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get([*each]) for each in sizes]),
        },
        regions=1,
        ip=ir.InsertionPoint(module.regions[0].blocks[0]),
    )
    if value is not None:
        function.attributes[_VALUE] = value

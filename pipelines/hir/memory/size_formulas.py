"""Sizes and allocations of a program as formulas of the sizes of its inputs."""

from __future__ import annotations

from dataclasses import field

from ....dialects.hir.domain import plan
from ....dialects.hir.domain_steps import read_domain
from ....dialects.hir.element_types import ELEMENT_TYPES
from ....dialects.hir.layout import DYNAMIC
from ....dialects.hir.program_inputs import input_name
from ....dialects.mlir import ir
from ....dialects.records import dataclass
from ...constants import constant_value
from ...dim_axis import dim_axis
from ...locations import location_text
from ...walking import defining_op
from ..extents import extent_of
from .formula import Atom, Formula, FormulaArithmetic

_PURE = ("arith.", "index.", "math.")


@dataclass
class SizeFormulas:
    """Formulas for the sizes of one program.

    `given` are what the caller knows: a dim of an input (its number and axis), or a scalar input
    (its number and -1).
    """

    given: dict[tuple[int, int], Formula] = field(default_factory=dict[tuple[int, int], Formula])
    _known: dict[ir.Value, Formula] = field(default_factory=dict[ir.Value, Formula])

    def define(self, value: ir.Value, formula: Formula) -> None:
        """Says what an index value is, where the program itself does not."""
        self._known[value] = formula

    def index(self, value: ir.Value) -> Formula:
        """Returns the formula of an index value."""
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self._find(value)
        return found

    def dim(self, buffer: ir.Value, axis: int) -> Formula:
        """Returns the formula of the size of a dim."""
        match extent_of(buffer, axis):
            case int(size):
                return Formula.of(size)
            case ("name", str(name)):
                return self._input_dim(buffer, axis, name)
            case ("value", ir.Value() as value):
                return self.index(value)
            case ("dim", ir.Value() as source, int(place)):
                return self._open_dim(source, place)
            case other:
                return Formula.of(Atom(other, "a size"))

    def bytes_of(self, allocation: ir.Operation) -> Formula:
        """Returns the bytes that a hir.allocate or hir.reuse asks for."""
        kind = ir.MemRefType(allocation.results[0].type)
        sizes = list(allocation.operands)[1 if allocation.name == "hir.reuse" else 0 :]
        domain = read_domain(allocation, kind.shape)
        found = plan(domain, [self.index(size) for size in sizes], FormulaArithmetic())
        return found.elements * Formula.of(ELEMENT_TYPES[str(kind.element_type)].bytes)

    def bytes_of_packed(self, buffer: ir.Value) -> Formula:
        """Returns the bytes of a buffer whose elements lie without gaps."""
        kind = ir.MemRefType(buffer.type)
        total = Formula.of(ELEMENT_TYPES[str(kind.element_type)].bytes)
        for axis in range(kind.rank):
            total *= self.dim(buffer, axis)
        return total

    def _input_dim(self, buffer: ir.Value, axis: int, name: str) -> Formula:
        program = _program_of(buffer)
        for argument in program.regions[0].blocks[0].arguments:
            if isinstance(argument.type, ir.MemRefType):
                for place in range(argument.type.rank):
                    key = (argument.arg_number, place)
                    if key in self.given and extent_of(argument, place) == ("name", name):
                        return self.given[key]
        return Formula.of(Atom(("name", name), name))

    def _open_dim(self, source: ir.Value, axis: int) -> Formula:
        if isinstance(source, ir.BlockArgument):
            key = (source.arg_number, axis)
            if key in self.given:
                return self.given[key]
            return Formula.of(Atom(("dim", source, axis), f"{_input_name(source)}.size({axis})"))
        op = defining_op(source)
        assert op is not None
        where = location_text(op.location)
        return Formula.of(Atom(("dim", source, axis), f"[size {axis} of the buffer at {where}]"))

    def _find(self, value: ir.Value) -> Formula:
        known = constant_value(value)
        if known is not None:
            return Formula.of(known)
        op = defining_op(value)
        if op is None:
            return self._argument(value)
        operands = list(op.operands)
        if op.name == "memref.dim":
            axis = dim_axis(op)
            if axis is not None and ir.MemRefType(operands[0].type).shape[axis] != DYNAMIC:
                return Formula.of(ir.MemRefType(operands[0].type).shape[axis])
            if axis is not None:
                return self.dim(operands[0], axis)
        if op.name in ("arith.index_cast", "arith.index_castui"):
            return self.index(operands[0])
        if op.name in ("arith.addi", "index.add"):
            return self.index(operands[0]) + self.index(operands[1])
        if op.name in ("arith.muli", "index.mul"):
            return self.index(operands[0]) * self.index(operands[1])
        if op.name in ("arith.ceildivsi", "arith.ceildivui", "index.ceildivs", "index.ceildivu"):
            return FormulaArithmetic().ceil_divide(self.index(operands[0]), self.index(operands[1]))
        where = f"[value at {location_text(op.location)}]"
        if not op.name.startswith(_PURE):
            return Formula.of(Atom(("value", value), where))
        # Equal operations on equal operands are equal.
        parts = [self.index(operand) for operand in operands]
        attributes = tuple((name, str(op.attributes[name])) for name in op.attributes)
        text = f"{op.name.partition('.')[2]}({', '.join(map(str, parts))})"
        if op.name == "arith.select":
            text = f"({parts[1]} or {parts[2]})"
        return Formula.of(Atom((op.name, attributes, *parts), text))

    def _argument(self, value: ir.Value) -> Formula:
        assert isinstance(value, ir.BlockArgument)
        if value.owner.owner.operation.name != "hir.program":
            return Formula.of(Atom(("value", value), "[a loop's index]"))
        key = (value.arg_number, -1)
        return self.given.get(key) or Formula.of(Atom(("value", value), _input_name(value)))


def _program_of(value: ir.Value) -> ir.Operation:
    op = defining_op(value)
    if op is None:
        owner = value.owner
        assert isinstance(owner, ir.Block)
        op = owner.owner.operation
    while op.name != "hir.program":
        assert op.parent is not None
        op = op.parent
    return op


def _input_name(argument: ir.BlockArgument) -> str:
    return input_name(argument.owner.owner.operation, argument.arg_number)

"""The region of a linalg.generic, evaluated at one iteration after another in a kernel."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cached_property

from ...dialects.hir.loop_operation import loops_of
from ...dialects.mlir import ir
from ..walking import defining_operation
from .division import Divisor, may_be_rough
from .elements import disguised
from .given_divisors import given_divisor, is_given
from .parameters import Parameters
from .region_operations import cloned, is_harmless_operation, is_outside, needed_by
from .size import ZERO
from .work import COLLECTIVES, Work


class Region:
    """What each value of the region depends on. `loops` are the operation's own.

    Without the `parameters` of a kernel nothing can be computed.
    """

    def __init__(self, work: Work, parameters: Parameters | None = None) -> None:
        self.work = work
        self._parameters = parameters
        self._varies: dict[ir.Value, frozenset[int]] = {}
        self._has_varies = False
        self._arguments = list(work.block.arguments)
        self._by_number = {operand.number: operand for operand in work.operands}

    @property
    def has_parameters(self) -> bool:
        return self._parameters is not None

    @property
    def parameters(self) -> Parameters:
        """What the kernel is given."""
        assert self._parameters is not None, "the region is not a kernel's"
        return self._parameters

    @property
    def yielded(self) -> list[ir.Value]:
        """What the outputs take, in their order; nothing where all has computed places."""
        if self.work.scatters:
            return []
        found = list(list(self.work.block.operations)[-1].operands)
        if not self.work.statistics:
            return found
        first = len(self._arguments) - len(found)
        reduced = {each.operand: each.op.operands[0] for each in self.work.statistics}
        return [
            reduced[output] if output in reduced else found[output.number - first]
            for output in self.work.outputs
        ]

    @property
    def checks(self) -> list[ir.Operation]:
        """The assertions, which give no value that would be asked for."""
        inner = [each.operation for each in self.work.block]
        return [each for each in inner if each.name == "cf.assert"]

    def argument_number(self, value: ir.Value) -> int | None:
        """The operand whose element a value is, or None."""
        if isinstance(value.owner, ir.Block) and value.owner == self.work.block:
            return ir.BlockArgument(value).arg_number
        return None

    def is_outside(self, value: ir.Value) -> bool:
        """Returns whether a value is the host's."""
        return is_outside(self.work, value)

    def varies(self, value: ir.Value) -> frozenset[int]:
        """The loops that a value depends on."""
        if not self._has_varies:
            self._has_varies = True
            # In the order of the region, so that long chains need no deep stack.
            for result in self._results():
                self._varies[result] = self._find(result)
        known = self._varies.get(value)
        if known is None:
            known = self._varies[value] = self._find(value)
        return known

    def needs_collective(self, value: ir.Value) -> bool:
        """Returns whether a value comes from the result of a collective operation."""
        return value in self._from_collectives

    @cached_property
    def _from_collectives(self) -> set[ir.Value]:
        found: set[ir.Value] = set()
        for result in self._results():
            is_collective = defining_operation(result).name in COLLECTIVES
            if is_collective or any(each in found for each in self.needs(result)):
                found.add(result)
        return found

    def _results(self) -> list[ir.Value]:
        """The results of the region's operations, in its order."""
        return [result for each in self.work.block for result in each.operation.results]

    def needs(self, value: ir.Value) -> list[ir.Value]:
        """The values that the operation which gives `value` takes, nested ones too."""
        if self.argument_number(value) is not None or self.is_outside(value):
            return []
        return needed_by(defining_operation(value))

    def takes_any(self, varying: frozenset[int]) -> bool:
        """Returns whether all that varies along loops takes any numbers."""
        operations = (inner.operation for inner in self.work.block)
        return all(
            is_harmless_operation(op.name)
            or not any(self.varies(value) & varying for value in (*op.operands, *op.results))
            for op in operations
        )

    def _find(self, value: ir.Value) -> frozenset[int]:
        number = self.argument_number(value)
        if number is not None:
            operand = self._by_number.get(number)
            if operand is None:
                return frozenset()
            return frozenset(loop for loop, stride in enumerate(operand.strides) if stride != ZERO)
        if self.is_outside(value):
            return frozenset()
        op = defining_operation(value)
        if op.name == "linalg.index":
            return frozenset([_loop(op)])
        found = frozenset[int]().union(*map(self.varies, self.needs(value)))
        if op.name == "hir.scan_loop":
            return found | frozenset(loops_of(op))
        if op.name in COLLECTIVES:
            return found - frozenset(loops_of(op))
        return found


class Point:
    """One iteration of the loops `varying`, in code: gives the region's values there.

    `load` gives the element of an operand by its number, `index` a loop's index. What does not
    vary along `varying` is asked of `outer`, the point around it, so that it is computed once.
    Results of collective operations are `known` here or further out.
    """

    def __init__(
        self,
        region: Region,
        varying: frozenset[int],
        load: Callable[[int], ir.Value],
        index: Callable[[int], ir.Value],
        outer: Point | None = None,
    ) -> None:
        self._region = region
        self._varying = varying
        self._load = load
        self._index = index
        self._outer = outer
        self.known: dict[ir.Value, ir.Value] = {}
        self._divisors: dict[ir.Value, Divisor] = {}

    def fork(self) -> Point:
        """The same iteration in a branch: what is computed there is not known outside of it."""
        made = copy(self)
        made.known, made._divisors = dict(self.known), dict(self._divisors)
        return made

    def disguise(self) -> None:
        """Hides from the compiler that floats which are known are the same in another branch."""
        for value, known in self.known.items():
            if isinstance(known.type, ir.FloatType):
                self.known[value] = disguised(known)
        for value, divisor in self._divisors.items():
            self._divisors[value] = divisor.disguised()

    def value(self, value: ir.Value) -> ir.Value:
        """A value of the region at this point; emits what computes it, once."""
        waiting = [value]
        while waiting:
            each = waiting[-1]
            if self._known(each) is not None:
                waiting.pop()
            elif self._outer is not None and not self._region.varies(each) & self._varying:
                self._outer.value(each)
            elif missing := self._missing(each):
                waiting += reversed(missing)
            else:
                self._compute(each)
        found = self._known(value)
        assert found is not None
        return found

    def _missing(self, value: ir.Value) -> list[ir.Value]:
        """Returns what an operation that is repeated takes and is not there yet."""
        if self._is_divided(value, self._varying):
            return []
        return [each for each in self._region.needs(value) if self._known(each) is None]

    def check(self, op: ir.Operation) -> None:
        """Emits an assertion of the region."""
        self._clone(op)

    def prepare(self, value: ir.Value, varying: frozenset[int]) -> None:
        """Computes here what `value` needs that does not vary along `varying`.

        To be called before code that computes `value` in a nested block, or under a condition: what
        is computed there cannot be used after it.
        """
        waiting, seen = [(value, False)], set[ir.Value]()
        while waiting:
            each, is_ready = waiting.pop()
            if is_ready:
                if self._is_divided(each, varying):
                    self._divisor(defining_operation(each).operands[1])
            elif each not in seen and self._known(each) is None:
                seen.add(each)
                if not self._region.varies(each) & varying:
                    self.value(each)
                    continue
                waiting.append((each, True))
                waiting += [(needed, False) for needed in reversed(self._region.needs(each))]

    def _known(self, value: ir.Value) -> ir.Value | None:
        point: Point | None = self
        while point is not None:
            if value in point.known:
                return point.known[value]
            point = point._outer
        return None

    def _compute(self, value: ir.Value) -> None:
        number = self._region.argument_number(value)
        if number is not None:
            if number in self._region.work.scalars:
                scalar = self._region.work.op.operands[number]
                self.known[value] = self._region.parameters.value(scalar)
            else:
                self.known[value] = self._load(number)
            return
        if self._region.is_outside(value):
            self.known[value] = self._outside(value)
            return
        op = defining_operation(value)
        if op.name == "linalg.index":
            self.known[value] = self._index(_loop(op))
            return
        if op.name in COLLECTIVES:
            raise AssertionError(f"{op.name} is asked for before it is reduced")
        if self._is_divided(value, self._varying):
            self.known[value] = self._divided(op)
            return
        self._clone(op)

    def _is_divided(self, value: ir.Value, varying: frozenset[int]) -> bool:
        """Returns whether a value is a quotient whose divisor is given, or alone does not vary."""
        if self._region.argument_number(value) is not None or self._region.is_outside(value):
            return False
        op = defining_operation(value)
        if op.name != "arith.divf":
            return False
        return is_given(self._region.work, op.operands[1]) or (
            isinstance(value.type, ir.F32Type)
            and bool(self._region.varies(op.operands[0]) & varying)
            and not self._region.varies(op.operands[1]) & varying
        )

    def _divided(self, op: ir.Operation) -> ir.Value:
        divisor = (self._outer or self)._divisor(op.operands[1])
        number = self.value(op.operands[0])
        if may_be_rough(op.results[0]):
            return divisor.divide_roughly(number)
        return divisor.divide(number)

    def _divisor(self, value: ir.Value) -> Divisor:
        """Returns what divides by a value that is uniform here, made where first asked for."""
        point: Point | None = self
        while point is not None:
            if value in point._divisors:
                return point._divisors[value]
            point = point._outer
        region = self._region
        # A kernel without parameters of its own divides by what it computes.
        if region.has_parameters and is_given(region.work, value):
            found = given_divisor(region.work, value, region.parameters)
            self._divisors[value] = found
            return found
        outer, varies = self._outer, self._region.varies(value) & self._varying
        if value not in self.known and outer is not None and not varies:
            return outer._divisor(value)
        found = self._divisors[value] = Divisor.of(self.value(value))
        return found

    def _outside(self, value: ir.Value) -> ir.Value:
        owner = value.owner
        if not isinstance(owner, ir.Block) and owner.operation.name == "arith.constant":
            return owner.operation.clone().results[0]
        return self._region.parameters.value(value)

    def _clone(self, op: ir.Operation) -> None:
        """The operation again, with the values of this point."""
        inside = {operand: self.value(operand) for operand in needed_by(op)}
        clone = cloned(op, inside)
        for result, own in zip(op.results, clone.results, strict=True):
            self.known[result] = own


def _loop(index: ir.Operation) -> int:
    """The loop whose index a linalg.index gives."""
    return ir.IntegerAttr(index.attributes["dim"]).value

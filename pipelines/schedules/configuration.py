"""What is decided of a kernel, as data: printed on the kernel, and given on an operation.

A chooser decides, and what generates code reads nothing but the decision. An operation may ask for
another one:

  linalg.generic {..., hir.configuration = {family = "pointwise", unroll = 2, threads = 512}} ...

Fields that it leaves out are as in the compiler's own choice that is nearest to it. The host makes
the kernel that was asked for wherever it is right, and the compiler's own where it is not: of
sizes, strides and addresses that only the run knows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from enum import StrEnum
from itertools import product
from typing import ClassVar, Generic, NoReturn, Self, TypeVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.generic import CONFIGURATION
from ..pass_base import fail
from .alternatives import Alternative, Conditions
from .device import Device
from .work import Work

Value = int | str
# What a block has at most (CUDA C++ Programming Guide, "Compute Capabilities").
MOST_THREADS = 1024
FAMILY = "family"


class Configuration:
    """The decision on one kernel. Its classes are frozen dataclasses of numbers, flags and words.

    `family` is the schedule that makes the kernel. `candidates` has, of the fields that a search
    goes through, the values that it tries.
    """

    family: ClassVar[str]
    candidates: ClassVar[Mapping[str, Sequence[Value]]] = {}

    @property
    def values(self) -> dict[str, Value]:
        """The fields by their names, and the family."""
        # A base class has no fields of its own for the type checker to know.
        names = [field.name for field in fields(self)]  # pyright: ignore[reportArgumentType]
        return {FAMILY: self.family, **{name: getattr(self, name) for name in names}}

    @property
    def attribute(self) -> ir.DictAttr:
        """What `CONFIGURATION` is of it."""
        return attribute_of(self.values)

    def with_values(self, values: Mapping[str, Value]) -> Self:
        """The same but for these fields."""
        return replace(self, **values)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]

    def agreements(self, values: Mapping[str, Value]) -> int:
        """Returns how many of these values are its own."""
        own = self.values
        return sum(own.get(name) == value for name, value in values.items())


C = TypeVar("C", bound=Configuration)


class Chooser(ABC, Generic[C]):
    """Decides on the kernels of one operation that a family takes, and launches them.

    One that does not take all of it leaves the rest to another family's: sizes, strides and
    addresses that only the run knows.
    """

    work: Work
    takes_all: ClassVar[bool] = True

    @abstractmethod
    def choices(self) -> Sequence[C]:
        """The compiler's own decisions: the host takes the first that is right."""

    @abstractmethod
    def refusal(self, made: C) -> str | None:
        """Why no kernel can be made of a configuration, and what can be; None where one can."""

    @abstractmethod
    def alternative(self, made: C) -> Alternative:
        """When a configuration's kernel is right, and its launch."""

    def changed(self, choice: C, values: Mapping[str, Value]) -> C:
        """Returns a choice with these fields, and others as they then are best."""
        return choice.with_values(values)

    def alternatives(self) -> list[Alternative]:
        """Returns what the compiler decides on."""
        return [self.alternative(made) for made in self.choices()]

    def beside(self, others: Sequence[Alternative]) -> Sequence[Alternative]:
        """Of another family's alternatives, those for what this one does not take."""
        return others

    def tuned(self, values: Mapping[str, Value]) -> Alternative | None:
        """Returns what was found to be good for the operation's class; None if it does not fit."""
        known = [each for each in self.choices() if values.keys() == each.values.keys()]
        if not known:
            return None
        nearest = _nearest(known, values)
        typed: dict[str, Value] = {}
        for name, like in nearest.values.items():
            value = _of_type(values[name], like)
            if value is None:
                return None
            typed[name] = value
        del typed[FAMILY]
        made = nearest.with_values(typed)
        return None if self.refusal(made) is not None else self.alternative(made)

    def given(self, given: Given) -> Alternative:
        """Returns what an operation asks for; fails where no kernel can be made of it."""
        choices = self.choices()
        if not choices:
            given.refuse(f"no kernel of '{given.family}' for this operation takes one")
        known = [each for each in choices if given.values.keys() <= each.values.keys()]
        if not known:
            given.refuse_fields(choices)
        known = list(filter(self._may_hold, known)) or known
        # Of several kinds of kernels that have all fields, the first that can be made.
        refusals: list[str] = []
        made: C | None = None
        for kind in dict.fromkeys(map(type, known)):
            nearest = _nearest([each for each in known if type(each) is kind], given.values)
            tried = self.changed(nearest, given.typed(nearest))
            refusal = self.refusal(tried)
            if refusal is None:
                made = tried
                break
            refusals.append(refusal)
        if made is None:
            given.refuse(refusals[0])
        conditions, launch = self.alternative(made)

        def checked(found: Conditions) -> None:
            conditions(found)
            if found.never:
                given.refuse("what is known of sizes, strides and offsets never allows it")

        return checked, launch

    def space(self) -> Iterator[C]:
        """All configurations of the candidates that kernels can be made of, each once.

        The compiler's own come first. Emits conditions on the host that nothing uses.
        """
        choices = self.choices()
        tried = [
            self.changed(choice, dict(zip(choice.candidates, values, strict=True)))
            for choice in choices
            for values in product(*choice.candidates.values())
        ]
        return filter(self._may_hold, dict.fromkeys([*choices, *tried]))

    def _may_hold(self, made: C) -> bool:
        if self.refusal(made) is not None:
            return False
        found = Conditions(self.work.open)
        self.alternative(made)[0](found)
        return not found.never


def _nearest(choices: Sequence[C], values: Mapping[str, Value]) -> C:
    """The choice that agrees with most values; the first of several."""
    return max(choices, key=lambda each: each.agreements(values))


def _of_type(value: Value, like: Value) -> Value | None:
    """A value as one of another's type, a word as one of its words; None where it is none."""
    kind = type(like)
    if issubclass(kind, StrEnum):
        return kind(str(value)) if value in list(kind) else None
    return value if type(value) is kind else None


@dataclass(frozen=True)
class Given:
    """The configuration that an operation asks for: a family, and some of its fields."""

    op: ir.Operation
    family: str
    values: Mapping[str, Value]

    def typed(self, like: Configuration) -> dict[str, Value]:
        """The fields, of the types of another configuration's; fails where one is not."""
        known = like.values
        typed: dict[str, Value] = {}
        for name, value in self.values.items():
            made = _of_type(value, known[name])
            if made is None:
                kind = type(known[name])
                if issubclass(kind, StrEnum):
                    self.refuse(f"'{name}' is one of {', '.join(kind)}")
                what = "true or false" if kind is bool else "a whole number, as 4 or 4 : i64"
                self.refuse(f"'{name}' takes {what}")
            typed[name] = made
        return typed

    def refuse_fields(self, choices: Sequence[Configuration]) -> NoReturn:
        """Ends the pass: there is no kernel that has all fields."""
        kinds = dict.fromkeys(
            ", ".join(name for name in each.values if name != FAMILY) for each in choices
        )
        known = {name for each in choices for name in each.values}
        unknown = next((name for name in self.values if name not in known), None)
        has = ", or ".join(kinds)
        if unknown is not None:
            self.refuse(f"'{self.family}' has no '{unknown}', but {has}")
        asked = ", ".join(self.values)
        self.refuse(f"no kernel of '{self.family}' has all of {asked}; one has {has}")

    def refuse(self, why: str) -> NoReturn:
        """Ends the pass with an error at the operation."""
        fail(self.op, f"{CONFIGURATION}: {why}; without it the compiler chooses")


def read_given(op: ir.Operation, families: Sequence[str]) -> Given | None:
    """Returns what an operation asks for, or None; fails where no family has it."""
    if CONFIGURATION not in op.attributes:
        return None
    attribute = op.attributes[CONFIGURATION]
    unknown = Given(op, "", {})
    if not isinstance(attribute, ir.DictAttr):
        unknown.refuse('it is a dictionary, as {family = "pointwise", threads = 128}')
    values = values_of(attribute)
    for each in attribute:
        if each.name not in values:
            unknown.refuse(f"'{each.name}' takes a number, true or false, or a word in quotes")
    family = values.pop(FAMILY, None)
    if family not in families:
        named = "it names no family" if family is None else f"there is no family '{family}'"
        unknown.refuse(f"{named}; the families are {', '.join(families)}")
    return Given(op, str(family), values)


def values_of(attribute: ir.DictAttr) -> dict[str, Value]:
    """The numbers, flags and words of a dictionary."""
    return {
        each.name: each.attr.value
        for each in attribute
        if isinstance(each.attr, ir.BoolAttr | ir.IntegerAttr | ir.StringAttr)
    }


def attribute_of(values: Mapping[str, Value]) -> ir.DictAttr:
    """A dictionary of numbers, flags and words."""
    return ir.DictAttr.get({name: _attribute(value) for name, value in values.items()})


def _attribute(value: Value) -> ir.Attribute:
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    return ir.StringAttr.get(str(value))


def is_power_of_two(number: int) -> bool:
    """Returns whether a number is one, 1 among them."""
    return number > 0 and number & (number - 1) == 0


def threads_refusal(threads: int, device: Device) -> str | None:
    """Why a block cannot have so many threads, or None."""
    if device.lanes <= threads <= MOST_THREADS and threads % device.lanes == 0:
        return None
    return f"'threads' is a multiple of {device.lanes} up to {MOST_THREADS}"

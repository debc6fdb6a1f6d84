"""Dataclasses whose methods are written late are what Python's own are."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import field
from typing import Any, ClassVar

import pytest

from hirc.dialects import records


def _kinds(dataclass: Callable[..., Any]) -> dict[str, Any]:
    """The same classes, by one decorator."""

    @dataclass(frozen=True)
    class Plain:
        x: int
        y: str = "why"
        kind: ClassVar[str] = "plain"
        z: list[int] = field(default_factory=list[int], compare=False, repr=False)

    @dataclass(frozen=True)
    class Derived(Plain):
        y: str = "because"
        w: float = 0.5

        def __post_init__(self) -> None:
            if self.w < 0:
                raise ValueError("less than nothing")

    @dataclass
    class Open:
        x: int
        later: dict[str, int] = field(default_factory=dict[str, int], init=False)
        known: int = field(default=3, init=False)
        unset: int = field(init=False)

    @dataclass(eq=False)
    class Itself:
        x: int

    @dataclass(frozen=True)
    class Own:
        x: int

        def __repr__(self) -> str:
            return "its own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    @dataclass(frozen=True)
    class Odd:
        x: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and self.x % 2 == other.x % 2

    @dataclass
    class Nothing:
        pass

    @dataclass(frozen=True, order=True)
    class Ordered:
        x: int
        y: int = 0

    return {key: kind for key, kind in locals().items() if isinstance(kind, type)}


OURS, THEIRS = _kinds(records.dataclass), _kinds(dataclasses.dataclass)
ARGUMENTS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Plain", (1,), {}),
    ("Plain", (1, "b", [2]), {}),
    ("Plain", (), {"x": 2, "z": []}),
    ("Plain", (), {}),
    ("Plain", (1, 2, 3, 4), {}),
    ("Plain", (1,), {"w": 1}),
    ("Derived", (1,), {"w": 2.0}),
    ("Derived", (1,), {"w": -1}),
    ("Open", (4,), {}),
    ("Open", (4, {}), {}),
    ("Itself", (4,), {}),
    ("Own", (4,), {}),
    ("Odd", (4,), {}),
    ("Nothing", (), {}),
    ("Ordered", (1,), {}),
]


def _tried(work: Callable[[], Any]) -> object:
    try:
        return work()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error).partition("'")[0]


@pytest.mark.parametrize(("name", "arguments", "named"), ARGUMENTS)
def test_they_are_as_pythons_own(
    name: str, arguments: tuple[Any, ...], named: dict[str, Any]
) -> None:
    def of(kinds: dict[str, Any], look: Callable[[Any], Any]) -> object:
        return _tried(lambda: look(kinds[name](*arguments, **named)))

    looks: list[Callable[[Any], Any]] = [
        repr,
        vars,
        lambda made: made == made,
        lambda made: made == copy.copy(made),
        lambda made: made != type(made)(*arguments, **named),
        lambda made: made == 1,
        lambda made: _tried(lambda: hash(made)) if name not in ("Itself", "Nothing") else None,
        lambda made: _tried(lambda: setattr(made, "x", 1)),
        lambda made: _tried(lambda: setattr(made, "new", 1)),
        lambda made: _tried(lambda: delattr(made, "x")),
        lambda made: [each.name for each in dataclasses.fields(made)],
        dataclasses.asdict,
        lambda made: dataclasses.replace(made, x=9).x,
        lambda made: getattr(type(made), "__match_args__"),  # noqa: B009
    ]
    for look in looks:
        assert of(OURS, look) == of(THEIRS, look)


def test_classes_are_known_before_there_is_an_object() -> None:
    @records.dataclass(frozen=True)
    class Fresh:
        x: int
        y: tuple[int, ...] = ()

    assert [each.name for each in dataclasses.fields(Fresh)] == ["x", "y"]
    assert (Fresh.y, hasattr(Fresh, "x")) == ((), False)
    assert len({Fresh(1), Fresh(1), Fresh(2)}) == 2


@records.dataclass(frozen=True)
class Sent:
    x: int


def test_they_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(Sent(3))) == Sent(3)


def test_a_class_defines_no_function_before_it_is_called() -> None:
    @records.dataclass(frozen=True)
    class Fresh:
        x: int

    before = Fresh.__init__
    Fresh(1)
    assert Fresh.__init__ is not before
    assert Fresh.__init__.__qualname__ == f"{Fresh.__qualname__}.__init__"

"""The names that a program's builder takes for element types and scalar types."""

from __future__ import annotations

from collections.abc import Iterable

from ..element_types import ELEMENT_TYPES, ElementType
from .errors import BuildError

# What other programs call them.
_ELSEWHERE = {
    **{each.torch: each.name for each in ELEMENT_TYPES.values() if each.name != "tf32"},
    "double": "f64",
    "float": "f32",
    "half": "f16",
    "int": "i32",
    "u8": "ui8",
}
SCALAR_TYPES = ("index", "i64", "i32", "i16", "i8", "i1", "f64", "f32", "f16", "bf16")


def element_type(name: str) -> ElementType:
    """Returns the element type called `name`. Raises BuildError where there is none."""
    if name not in ELEMENT_TYPES:
        raise _unknown("an element type", name, ELEMENT_TYPES)
    return ELEMENT_TYPES[name]


def scalar_type(name: str) -> str:
    """`name`, where it is a scalar's type. Raises BuildError where it is not."""
    if name not in SCALAR_TYPES:
        raise _unknown("a scalar's type", name, SCALAR_TYPES)
    return name


def _unknown(what: str, name: object, known: Iterable[str]) -> BuildError:
    names = list(known)
    ours = _ELSEWHERE.get(str(name).removeprefix("torch."))
    hint = f"write '{ours}'" if ours in names else None
    return BuildError(f"expected {what} ({', '.join(names)}), not {name!r}", hint)

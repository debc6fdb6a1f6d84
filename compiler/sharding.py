"""How a torch model's inputs, weights and outputs are spread over a mesh of devices, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..dialects.records import dataclass
from .errors import InputError

_FORMS = "axis:N, whole or partial:KIND"


@dataclass(frozen=True)
class Sharding:
    """A mesh, by the sizes of its axes; and for names, or patterns of names, a word for each axis.

    The words are Host IR's: axis:N (a negative N counts from the last dim), whole, partial:KIND.
    """

    mesh: tuple[int, ...]
    table: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def words(self) -> list[str]:
        """The words of a command line that ask for it."""
        mesh = [f"--mesh={','.join(map(str, self.mesh))}"] if self.mesh else []
        return [*mesh, *(f"--sharding={name}={','.join(row)}" for name, row in self.table)]


def make_sharding(mesh: Any, table: Any) -> Sharding | None:
    """Returns what is asked for; None where nothing is. Raises InputError.

    `mesh` is a size, or several, or a DeviceMesh of torch; `table` has for each name a placement
    (a word, or torch's Shard, Replicate or Partial), or one for each axis of the mesh.
    """
    if mesh is None:
        if table:
            raise InputError(
                "shardings say how tensors are spread over a mesh, and there is none",
                hint="mesh=(2,) is a row of two devices",
            )
        return None
    if not isinstance(table, Mapping) and table is not None:
        raise InputError(
            f"shardings is a {type(table).__name__}", hint="it is a dict of placements by name"
        )
    shape = _shape(mesh)
    rows = [(str(name), _row(name, given, len(shape))) for name, given in (table or {}).items()]
    return Sharding(shape, tuple(rows))


def parse_sharding(mesh: str | None, words: Sequence[str]) -> Sharding | None:
    """Returns what a command line asks for: --mesh=2,4 and --sharding=NAME=axis:0,whole.

    Without a mesh of its own the table has none to go by, and is for the one in a model's file.
    """
    if mesh is None and not words:
        return None
    shape = () if mesh is None else _shape(_numbers(mesh))
    rows: list[tuple[str, tuple[str, ...]]] = []
    for word in words:
        name, equals, given = word.rpartition("=")
        if not equals or not name or not given:
            raise InputError(
                f"--sharding takes NAME=PLACEMENT, one for each axis of the mesh, not '{word}'",
                hint="--sharding=up.weight=axis:0 divides its rows",
            )
        placements = tuple(given.split(","))
        rows.append((name, _row(name, placements, len(shape) or len(placements))))
    return Sharding(shape, tuple(rows))


def combined(asked: Sharding | None, said: Sharding | None) -> Sharding | None:
    """Returns what is asked for on top of what a model's file says. Raises InputError."""
    if asked is None or said is None:
        found = asked or said
    else:
        found = Sharding(asked.mesh or said.mesh, (*asked.table, *said.table))
    if found is not None and not found.mesh:
        raise InputError(
            "--sharding says how a tensor is spread over a mesh, and there is none",
            hint="--mesh=2 is a row of two devices",
        )
    for name, row in found.table if found is not None else ():
        _check_length(name, row, len(found.mesh) if found is not None else 0)
    return found


def _numbers(text: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",")]
    except ValueError:
        raise InputError(
            f"--mesh takes the sizes of its axes, not '{text}'", hint="--mesh=2,4 has eight devices"
        ) from None


def _shape(mesh: Any) -> tuple[int, ...]:
    sizes = getattr(mesh, "shape", mesh)
    try:
        shape = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    except TypeError:
        shape = ()
    if not shape or not all(type(each) is int and each > 0 for each in shape):
        raise InputError(
            f"a mesh is the sizes of its axes, not {mesh!r}", hint="(2, 4) has eight devices"
        )
    return shape


def _row(name: Any, given: Any, axes: int) -> tuple[str, ...]:
    several = isinstance(given, Iterable) and not isinstance(given, str)
    row = tuple(_word(name, each) for each in (given if several else (given,)))
    _check_length(name, row, axes)
    return row


def _check_length(name: Any, row: Sequence[str], axes: int) -> None:
    if len(row) != axes:
        raise InputError(
            f"the sharding of '{name}' has {len(row)} placements, and the mesh {axes} axes",
            hint="each axis of the mesh has a placement",
        )


def _word(name: Any, given: Any) -> str:
    """Returns a placement as a word; torch's are told by their names, so that none is imported."""
    word = given if isinstance(given, str) else _of_torch(given)
    head, colon, rest = word.partition(":")
    if word == "whole" or (
        colon and (head == "partial" or (head == "axis" and rest.removeprefix("-").isdecimal()))
    ):
        return word
    raise InputError(
        f"the sharding of '{name}' is {given!r}",
        hint=f"a placement is Shard(dim), Replicate() or Partial() of torch, or {_FORMS}",
    )


def _of_torch(given: Any) -> str:
    kind = type(given).__name__
    if kind == "Shard":
        return f"axis:{given.dim}"
    if kind == "Partial":
        return f"partial:{_REDUCTIONS.get(given.reduce_op, given.reduce_op)}"
    return "whole" if kind == "Replicate" else ""


_REDUCTIONS = {"product": "prod"}

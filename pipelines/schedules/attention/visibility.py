"""Which keys a row sees, as far as places decide it: causal masks, windows.

A condition has the form `constant + sum of factors times places >= 0`, where places are those of
rows and keys, and numbers that are the same for all of both, as the length of a sequence is. Where
it is false, x is -inf, so that keys for which it is false for all rows of a tile need not be read,
and where it is true for all of them, x needs no look at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from ....dialects.mlir import indexing_maps, ir
from ....dialects.records import dataclass
from ...fusion.access import coordinate, is_zero
from ...walking import made_by
from .reading import Attention, number_of

_SIGNED = {2: "<", 3: "<=", 4: ">", 5: ">="}


@dataclass(frozen=True)
class Condition:
    """One that a visible key meets; `value` is its place in the region, which is `holds` then.

    `loops` has the factors of indices, `outside` those of the host's numbers, and of elements that
    are the same for all rows and keys.
    """

    value: ir.Value
    holds: bool
    constant: int
    loops: Mapping[int, int]
    outside: Mapping[ir.Value, int]


def read_conditions(attention: Attention) -> tuple[list[Condition], ir.Value]:
    """The conditions without which x is -inf, and what x is where all hold.

    Those that have the key with a factor of 1 or -1.
    """
    found: list[Condition] = []
    value = attention.x
    while (choice := made_by(value, "arith.select")) is not None:
        condition, yes, no = choice.operands
        if number_of(no) == -inf:
            value = yes
            _add(condition, True, attention, found)
        elif number_of(yes) == -inf:
            value = no
            _add(condition, False, attention, found)
        else:
            break
    return found, value


def _add(value: ir.Value, holds: bool, attention: Attention, found: list[Condition]) -> None:
    """Adds what a truth that is needed says."""
    both = made_by(value, "arith.andi" if holds else "arith.ori")
    if both is not None:
        for part in both.operands:
            _add(part, holds, attention, found)
        return
    turned = made_by(value, "arith.xori")
    if turned is not None and _integer(turned.operands[1]) in (1, -1):
        _add(turned.operands[0], not holds, attention, found)
        return
    compared = made_by(value, "arith.cmpi")
    if compared is None:
        _add_as_number(value, holds, attention, found)
        return
    sign = _SIGNED.get(ir.IntegerAttr(compared.attributes["predicate"]).value)
    if sign is None:
        return
    left, right = (_linear(each, attention) for each in compared.operands)
    if left is None or right is None:
        return
    if not holds:
        sign = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[sign]
    more, less = (left, right) if sign[0] == ">" else (right, left)
    apart = more.plus(less, -1)
    constant = apart.constant - (0 if "=" in sign else 1)
    loops = {loop: factor for loop, factor in apart.loops.items() if factor}
    allowed = {*attention.batch, *attention.rows, attention.keys}
    if abs(loops.get(attention.keys, 0)) == 1 and loops.keys() <= allowed:
        found.append(Condition(value, holds, constant, loops, apart.outside))


def _add_as_number(
    value: ir.Value, holds: bool, attention: Attention, found: list[Condition]
) -> None:
    """A comparison of a number that a truth chose, as of a matrix of ones and zeros."""
    compared = made_by(value, "arith.cmpf")
    if compared is None:
        return
    number, against = compared.operands
    choice, right = made_by(number, "arith.select"), number_of(against)
    if choice is None or right is None:
        return
    numbers = [number_of(each) for each in choice.operands[1:]]
    predicate = ir.IntegerAttr(compared.attributes["predicate"]).value
    # oeq, one and une.
    if predicate not in (1, 6, 13) or None in numbers:
        return
    yes, no = ((each == right) == (predicate == 1) for each in numbers)
    if yes != no:
        _add(choice.operands[0], holds == yes, attention, found)


@dataclass(frozen=True)
class _Linear:
    constant: int
    loops: Mapping[int, int]
    outside: Mapping[ir.Value, int]

    def plus(self, other: _Linear, times: int) -> _Linear:
        loops, outside = dict(self.loops), dict(self.outside)
        for loop, factor in other.loops.items():
            loops[loop] = loops.get(loop, 0) + times * factor
        for value, factor in other.outside.items():
            outside[value] = outside.get(value, 0) + times * factor
        return _Linear(self.constant + times * other.constant, loops, outside)


def _linear(value: ir.Value, attention: Attention) -> _Linear | None:
    """An integer as a sum of places."""
    nothing = _Linear(0, {}, {})
    number = _integer(value)
    if number is not None:
        return _Linear(number, {}, {})
    index = made_by(value, "linalg.index")
    if index is not None:
        return _Linear(0, {ir.IntegerAttr(index.attributes["dim"]).value: 1}, {})
    owner = value.owner
    is_inside = owner == attention.op.regions[0].blocks[0] or (
        not isinstance(owner, ir.Block) and owner.operation.parent == attention.op
    )
    if not is_inside:
        return _Linear(0, {}, {value: 1}) if _is_wide(value) else None
    if isinstance(owner, ir.Block):
        return _Linear(0, {}, {value: 1}) if _is_uniform(value, attention) else None
    op = owner.operation
    parts = [_linear(each, attention) for each in op.operands]
    if op.name in ("arith.index_cast", "arith.extsi"):
        return parts[0]
    if len(parts) != 2 or parts[0] is None or parts[1] is None:
        return None
    # Sums of narrow numbers that nobody knows may wrap around.
    if not _is_wide(value) and (parts[0].outside or parts[1].outside):
        return None
    if op.name in ("arith.addi", "arith.subi"):
        return parts[0].plus(parts[1], 1 if op.name == "arith.addi" else -1)
    if op.name == "arith.muli":
        for one, other in ((parts[0], parts[1]), (parts[1], parts[0])):
            if not other.loops and not other.outside:
                return nothing.plus(one, other.constant)
    return None


def _is_wide(value: ir.Value) -> bool:
    return isinstance(value.type, ir.IndexType) or str(value.type) == "i64"


def _is_uniform(value: ir.Value, attention: Attention) -> bool:
    """Returns whether an argument of the region is an integer that no row and no key has alone."""
    op, number = attention.op, ir.BlockArgument(value).arg_number
    if not isinstance(value.type, ir.IntegerType) or value.type.width not in (32, 64):
        return False
    if number >= ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]:
        return False
    varying = {*attention.rows, attention.keys, attention.depth, attention.columns}
    places = [coordinate(each) for each in indexing_maps(op)[number].results]
    return all(each not in varying if isinstance(each, int) else is_zero(each) for each in places)


def _integer(value: ir.Value) -> int | None:
    op = made_by(value, "arith.constant")
    attribute = None if op is None else op.attributes["value"]
    if isinstance(attribute, ir.BoolAttr):
        return int(attribute.value)
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None

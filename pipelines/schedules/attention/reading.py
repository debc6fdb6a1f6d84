"""Reading a linalg.generic as attention: the products and the softmax that its region holds.

With loops i (rows), j (keys), k (depth) and n (columns), besides those of batches:

    score(i, j) = sum over k of query(i, k) key(j, k)
    x(i, j)     = any function of the score, of i, j and of further operands
    most(i)     = greatest x over j
    power(i, j) = exp(x - most)                 0 may stand for a most of -inf
    total(i)    = sum over j of power
    sum(i, n)   = sum over j of power / f(total) value(j, n)
    output      = any function of sum

Keys and values may be read at places that the region computes, of j and of tables: those of a cache
whose pages lie anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import inf

from ....dialects.hir.loop_operation import kind_of, loops_of
from ....dialects.mlir import indexing_maps, ir
from ....dialects.records import dataclass
from ...fusion.node import is_integer_division
from ...walking import made_by

_REDUCE = "hir.reduce_loops"
LOADS = ("tensor.extract", "memref.load")


@dataclass(frozen=True)
class Attention:
    """What is what: operands by their numbers, loops, and values of the region.

    `element` is the type of query, key and value. `rows` are the loops along which key and value
    are the same, `batch` those that are none of the others. A key or value that the region loads
    from a tensor has a number below 0, by which `loads` has the operation.
    """

    op: ir.Operation
    query: int
    key: int
    value: int
    element: ir.Type
    batch: tuple[int, ...]
    rows: tuple[int, ...]
    keys: int
    depth: int
    columns: int
    score: ir.Value
    x: ir.Value
    most: ir.Value
    total: ir.Value
    divisor: ir.Value
    sum: ir.Value
    output: ir.Value
    loads: Mapping[int, ir.Operation] = field(default_factory=dict[int, ir.Operation])


def read_attention(op: ir.Operation) -> Attention | None:
    """The attention that a linalg.generic computes, on tensors or buffers; None where it differs.

    Its query, key and value have elements of one type, f32, bf16 or f16; of the latter two the
    quotients are rounded to that type before they are multiplied.
    """
    block = op.regions[0].blocks[0]
    yielded = list(list(block)[-1].operation.operands)
    if len(yielded) != 1 or any(each.operation.name == "cf.assert" for each in block):
        return None
    return _Reader(op).read(yielded[0])


class _Reader:
    def __init__(self, op: ir.Operation) -> None:
        self._op = op
        self._block = op.regions[0].blocks[0]
        self._maps = indexing_maps(op)
        self._inputs = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
        self._loads: dict[int, ir.Operation] = {}

    def read(self, output: ir.Value) -> Attention | None:
        sum_ = _only([each for each in self._sources(output) if _is_reduced(each)])
        if sum_ is None or not self._is_made_of(output, [sum_]):
            return None
        factors = self._factors(sum_, "addf")
        if factors is None:
            return None
        for weight, value in (factors, factors[::-1]):
            number = self._matrix(_unextended(value))
            if number is not None:
                return self._with_value(output, sum_, weight, number)
        return None

    def _with_value(
        self, output: ir.Value, sum_: ir.Value, weight: ir.Value, value: int
    ) -> Attention | None:
        element = self._element(value)
        narrow = _unextended(weight)
        quotient = made_by(narrow, "arith.truncf") if narrow != weight else None
        if str(element) in ("bf16", "f16"):
            if quotient is None or narrow.type != element:
                return None
            weight = quotient.operands[0]
        divided = made_by(weight, "arith.divf")
        if divided is None or str(element) not in ("bf16", "f16", "f32"):
            return None
        power, divisor = divided.operands
        raised = made_by(power, "math.exp")
        total = _only([each for each in self._sources(divisor) if _is_reduced(each)])
        if raised is None or total is None or not self._is_made_of(divisor, [total]):
            return None
        less = made_by(raised.operands[0], "arith.subf")
        if less is None or not self._reduces(total, "addf", power):
            return None
        x, base = self._lowered_once(*less.operands)
        most = _most(base)
        if most is None or not self._reduces(most, "maximumf", x):
            return None
        score = _only([each for each in self._sources(x) if _is_reduced(each)])
        if score is None or any(str(each.type) != "f32" for each in (score, x, power, sum_)):
            return None
        operands = self._factors(score, "addf")
        if operands is None:
            return None
        numbers = [self._matrix(_unextended(each)) for each in operands]
        found = (self._loops(each)[0] for each in (sum_, most, total, score))
        loops = list(found)
        first, second = numbers
        if first is None or second is None or len({*loops[:3]}) != 1:
            return None
        return self._with_scores(
            Attention(
                self._op, first, second, value, element, (), (), loops[0], loops[3], 0,
                score, x, most, total, divisor, sum_, output,
            )
        )  # fmt: skip

    def _with_scores(self, found: Attention) -> Attention | None:
        """Tells query from key, and which loop is which."""
        keys, depth = found.keys, found.depth
        query, key = found.query, found.key
        if keys in self._used(query):
            query, key = key, query
        of_query, of_key, of_value = (self._used(each) for each in (query, key, found.value))
        rank = self._maps[0].n_dims
        matrices = {query, key, found.value}
        if (
            len(matrices) != 3
            or query < 0
            or any(self._element(each) != found.element for each in matrices)
        ):
            return None
        if keys in of_query or not {keys, depth} <= of_key or depth not in of_query:
            return None
        others = [
            number
            for number in range(self._inputs)
            if number not in matrices and self._block.arguments[number] in self._cone([found.x])
        ]
        of_scores = of_query | of_key | frozenset[int]().union(*map(self._used, others))
        of_scores |= self._indices(found.x)
        columns = of_value - of_scores
        if keys not in of_value or depth in of_value or len(columns) != 1:
            return None
        (column,) = columns
        heads = ((key, depth), (found.value, column))
        if not all(self._lies_along(number, head) for number, head in heads if number < 0):
            return None
        if depth in self._indices(found.x) or any(depth in self._used(each) for each in others):
            return None
        written = self._used(self._inputs)
        rest = [loop for loop in range(rank) if loop not in (keys, depth, column)]
        if written != frozenset([*rest, column]) or not self._computes(found.x):
            return None
        shared = of_key | of_value
        return Attention(
            found.op, query, key, found.value, found.element,
            tuple(loop for loop in rest if loop in shared),
            tuple(loop for loop in rest if loop not in shared),
            keys, depth, column, found.score, found.x, found.most, found.total,
            found.divisor, found.sum, found.output, self._loads,
        )  # fmt: skip

    def _lowered_once(self, x: ir.Value, base: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Returns what is lowered by its greatest, of what may have been lowered so before."""
        before = made_by(x, "arith.subf")
        if before is None or not self._reduces(base, "maximumf", x):
            return x, base
        whole, most = before.operands
        return (whole, most) if self._reduces(most, "maximumf", whole) else (x, base)

    def _factors(self, sum_: ir.Value, kind: str) -> list[ir.Value] | None:
        """The two values whose products a reduction along one loop adds up."""
        term = self._reduced(sum_, kind)
        product = None if term is None else made_by(term, "arith.mulf")
        return None if product is None else list(product.operands)

    def _reduced(self, value: ir.Value, kind: str) -> ir.Value | None:
        """Returns what a value is the reduction of, along one loop."""
        op = made_by(value, _REDUCE)
        if op is None or kind_of(op) != kind or len(loops_of(op)) != 1:
            return None
        return op.operands[0]

    def _reduces(self, value: ir.Value, kind: str, of: ir.Value) -> bool:
        """Returns whether a value is the reduction of another one, along one loop."""
        found = self._reduced(value, kind)
        return found is not None and found == of

    @staticmethod
    def _loops(value: ir.Value) -> list[int]:
        op = made_by(value, _REDUCE)
        assert op is not None
        return loops_of(op)

    def _argument(self, value: ir.Value) -> int | None:
        """The input whose element a value is."""
        if not isinstance(value.owner, ir.Block) or value.owner != self._block:
            return None
        number = ir.BlockArgument(value).arg_number
        return number if number < self._inputs else None

    def _matrix(self, value: ir.Value) -> int | None:
        """The number of the input, or of the load from a tensor, whose element a value is."""
        load = made_by(value, *LOADS)
        if load is None:
            return self._argument(value)
        for number, known in self._loads.items():
            if known == load:
                return number
        if len(load.operands) < 2 or not all(map(self._is_place, list(load.operands)[1:])):
            return None
        number = -1 - len(self._loads)
        self._loads[number] = load
        return number

    def _lies_along(self, number: int, head: int) -> bool:
        """Returns whether the last dim of what is loaded, and none before, is a loop."""
        _, *places, last = self._loads[number].operands
        index = made_by(last, "linalg.index")
        is_last = index is not None and ir.IntegerAttr(index.attributes["dim"]).value == head
        return is_last and head not in self._loops_of(places)

    def _is_place(self, value: ir.Value) -> bool:
        """Returns whether a value is computed of indices, numbers of the host and elements."""
        for each in self._cone([value]):
            owner = each.owner
            if isinstance(owner, ir.Block):
                if owner == self._block and self._argument(each) is None:
                    return False
                continue
            computes = owner.operation.name.startswith(("arith.", "linalg.index", *LOADS))
            if owner.operation.parent == self._op and not computes:
                return False
        return True

    def _element(self, number: int) -> ir.Type:
        if number < 0:
            return self._loads[number].results[0].type
        return self._block.arguments[number].type

    def _used(self, number: int) -> frozenset[int]:
        """The loops of an operand."""
        if number < 0:
            return frozenset(self._loops_of(list(self._loads[number].operands)[1:]))
        results = self._maps[number].results
        return frozenset(
            ir.AffineDimExpr(each).position
            for each in results
            if isinstance(each, ir.AffineDimExpr)
        )

    def _cone(self, values: Sequence[ir.Value]) -> set[ir.Value]:
        """The values that others are made of, up to results of reductions."""
        found: set[ir.Value] = set()
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            if value in found:
                continue
            found.add(value)
            owner = value.owner
            if isinstance(owner, ir.Block) or owner.operation.parent != self._op:
                continue
            if owner.operation.name != _REDUCE:
                waiting += owner.operation.operands
        return found

    def _sources(self, value: ir.Value) -> list[ir.Value]:
        """Returns what a value is made of that is no result of elementwise arithmetic."""
        return [
            each
            for each in self._cone([value])
            if isinstance(each.owner, ir.Block) or each.owner.operation.name == _REDUCE
        ]

    def _loops_of(self, values: Sequence[ir.Value]) -> set[int]:
        """The loops that values depend on, which are no reductions."""
        found: set[int] = set()
        for each in self._cone(values):
            number = self._argument(each)
            if number is not None:
                found |= self._used(number)
        return found.union(*map(self._indices, values))

    def _indices(self, value: ir.Value) -> set[int]:
        """The loops whose indices a value is made of."""
        indices = [made_by(each, "linalg.index") for each in self._cone([value])]
        return {
            ir.IntegerAttr(each.attributes["dim"]).value for each in indices if each is not None
        }

    def _is_made_of(self, value: ir.Value, sources: Sequence[ir.Value]) -> bool:
        """Returns whether a value is arithmetic on these alone."""
        return (
            set(self._sources(value)) == set(sources)
            and not self._indices(value)
            and self._computes(value)
        )

    def _computes(self, value: ir.Value) -> bool:
        """Returns whether a value can be computed of any numbers, even beyond the loops."""
        for each in self._cone([value]):
            if isinstance(each.owner, ir.Block):
                if each.owner == self._block and self._argument(each) is None:
                    return False
                continue
            op = each.owner.operation
            if op.name in (_REDUCE, "linalg.index") or op.parent != self._op:
                continue
            if not op.name.startswith(("arith.", "math.")) or is_integer_division(op.name):
                return False
        return True


def number_of(value: ir.Value) -> float | None:
    """The number that a value is the constant of, extended or rounded."""
    rounded = made_by(value, "arith.extf", "arith.truncf")
    if rounded is not None:
        return number_of(rounded.operands[0])
    op = made_by(value, "arith.constant")
    attribute = None if op is None else op.attributes["value"]
    return attribute.value if isinstance(attribute, ir.FloatAttr) else None


def _most(base: ir.Value) -> ir.Value | None:
    """The greatest x, where 0 may stand for one of -inf."""
    choice = made_by(base, "arith.select")
    if choice is None:
        return base
    condition, zero, most = choice.operands
    compared = made_by(condition, "arith.cmpf")
    if compared is None or number_of(zero) != 0:
        return None
    is_equal = ir.IntegerAttr(compared.attributes["predicate"]).value == 1
    left, right = compared.operands
    is_least = number_of(right) == -inf and _unextended(left) == most
    return most if is_equal and is_least else None


def _unextended(value: ir.Value) -> ir.Value:
    wide = made_by(value, "arith.extf")
    return value if wide is None else wide.operands[0]


def _is_reduced(value: ir.Value) -> bool:
    return made_by(value, _REDUCE) is not None


def _only(values: Sequence[ir.Value]) -> ir.Value | None:
    return values[0] if len(values) == 1 else None

"""Making one linalg.generic of a chain of operations that is attention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain as joined
from itertools import permutations
from math import isfinite, prod

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, ir
from ..fusion.access import Access, Coordinate, zero
from ..fusion.generic import accesses_of, inputs_of, make_generic, reducing_loops
from ..fusion.region import Region
from ..rewriting import constant, index_constant
from ..schedules.attention.reading import Attention, number_of, read_attention
from ..tensors import collapsed, copied_to, dim_of, empty, expanded
from ..walking import defining_operation, made_by, operations_where
from .chain import Chain, Step, behind_copies, behind_scales
from .places import Loop, Place

# Rows that load keys and values from places that are computed, each head for itself, or from where
# elements of a head lie apart; more have them copied.
_MOST_LOADING = 64


def merge(op: ir.Operation, accepts: Callable[[Attention], bool]) -> bool:
    """Makes one operation of attention that ends with the product `op`; whether it does.

    `accepts` says whether there is a kernel for it.
    """
    chain = Chain()
    step = chain.product(op)
    unused: list[ir.Operation] = []
    if step is not None and chain.follow_scores(step) and chain.scores is not None:
        unused = _Merger(op, step, chain, chain.scores).merge(accepts)
    for each in reversed(chain.made):
        each.erase()
    _erase(unused)
    return bool(unused)


class _Merger:
    def __init__(self, op: ir.Operation, step: Step, chain: Chain, scores: Step) -> None:
        self._op, self._step, self._chain, self._scores = op, step, chain, scores
        self._numbers: dict[Loop, int] = {}
        # Parts of a loop that is one here.
        self._part_of: dict[Loop, Loop] = {}
        self._open_dims: dict[Loop, tuple[ir.Value, int]] = {}
        self._loaded: list[Step] = []
        self._sizes: dict[Loop, Place] = {}
        self._rounded: list[ir.Value] = []
        self._factor = 1.0
        # Copies of queries, keys and values, by what they are of and the order of its dims.
        self._copies: dict[tuple[ir.Value, tuple[int, ...]], ir.Value] = {}
        self._last: Loop | None = None

    def merge(self, accepts: Callable[[Attention], bool]) -> list[ir.Operation]:
        """Puts one operation in the place of all; gives those that are not used any more."""
        found = self._merged(accepts)
        if not found:
            _erase([defining_operation(copy) for copy in self._copies.values()])
        return found

    def _merged(self, accepts: Callable[[Attention], bool]) -> list[ir.Operation]:
        op, step = self._op, self._step
        if len(_sums(self._scores.op)) != 1:
            return []
        write = self._written()
        result = Place(op.results[0], tuple(tuple(dim) for dim in write))
        last, end = op, None
        found = self._chain.end(op, result)
        if found is not None:
            last, end, result = found
        elif self._chain.divisor is not None:
            return []
        self._read_heads(write)
        self._number_loops(write, result)
        if not self._can_be_indexed([step, *([] if end is None else [end])]):
            return []
        with ir.Location.fused(self._locations(step)), ir.InsertionPoint(last):
            new = self._build(end, result)
        if new is None:
            return []
        attention = read_attention(new)
        if attention is None or not accepts(attention):
            new.erase()
            return []
        with last.location, ir.InsertionPoint(last):
            value = self._in_shape(self._in_order(new.results[0], result), result)
        last.results[0].replace_all_uses_with(value)
        return [last, op]

    def _written(self) -> list[list[Loop]]:
        """Returns the loops of the product's result."""
        write = accesses_of(self._step.op)[len(inputs_of(self._step.op))]
        return [self._step.loops[each] if isinstance(each, int) else [] for each in write.index]

    @property
    def _loads(self) -> bool:
        """Whether scores or weights are made of what is loaded from places that are computed."""
        return bool(self._loaded) or bool(
            operations_where(self._scores.op, lambda each: each.name == "tensor.extract")
        )

    def _read_heads(self, write: Sequence[Sequence[Loop]]) -> None:
        """Lets queries, keys and values be read from behind copies."""
        (weights,) = (each for each in self._step.inputs if isinstance(each, Step))
        of_weights = _loops_of(weights)
        columns = [loop for loop in _leaves(write) if loop not in of_weights]
        rows = [loop for loop in _leaves(write) if loop in of_weights]
        depth = [self._scores.loops[loop] for loop in reducing_loops(self._scores.op)]
        for number, place in enumerate(self._scores.inputs):
            if isinstance(place, Place) and len(depth) == 1 and len(depth[0]) == 1:
                behind, factor = behind_scales(place, depth[0][0])
                self._scores.inputs[number] = self._load(behind, depth[0][0], rows)
                self._factor *= factor
        for number, place in enumerate(self._step.inputs):
            if isinstance(place, Place) and len(columns) == 1:
                behind = behind_copies(place, columns[0])
                self._step.inputs[number] = self._load(behind, columns[0], rows)
        if len(columns) != 1 or len(depth) != 1 or len(depth[0]) != 1:
            return
        # Many rows read heads from copies, in which they lie in rows, and write them so.
        of_values = set[Loop]()
        for each in self._step.inputs:
            of_values |= set() if each is weights else _loops_of(each)
        if not _are_many(loop for loop in rows if loop not in of_values):
            return
        (self._last,) = columns
        for step, head in ((self._scores, depth[0][0]), (self._step, columns[0])):
            step.inputs = [
                self._in_rows(each, head) if isinstance(each, Place) else each
                for each in step.inputs
            ]

    def _in_rows(self, place: Place, head: Loop) -> Place:
        """Returns the place in a copy where elements of a head lie in rows."""
        if [head] not in place.index or place.index[-1] == [head]:
            return place
        axis = place.index.index([head])
        order = (*(each for each in range(len(place.dims)) if each != axis), axis)
        key = place.value, order
        if key not in self._copies:
            with self._op.location, ir.InsertionPoint(self._op):
                self._copies[key] = _reordered(place.value, order)
        return Place(self._copies[key], tuple(place.dims[each] for each in order))

    def _load(self, place: Place, head: Loop, rows: Sequence[Loop]) -> Step | Place:
        """Returns what loads heads from places that are computed, or where they lie.

        Many rows read these faster from where they were loaded to.
        """
        own = {loop for dim in place.index for loop in dim}
        if not self._loads and _are_many(loop for loop in rows if loop not in own):
            return place
        found = self._chain.loaded(place, head)
        if found is None:
            return place
        self._loaded.append(found)
        return found

    def _number_loops(self, write: Sequence[Sequence[Loop]], result: Place) -> None:
        """The loops of the result, those of the sums over keys, and those of the scores' sums.

        Those that reshapes split are one where parts follow one another in all that is read and
        written: an image's rows and columns, as queries are.
        """
        inner = [self._step.loops[loop] for loop in reducing_loops(self._step.op)] + [
            self._scores.loops[loop] for loop in reducing_loops(self._scores.op)
        ]
        places = [result, *_places_of(self._step)]
        for loop in joined.from_iterable(write):
            parts = loop.whole
            is_known = all(part.size != DYNAMIC for part in parts)
            if len(parts) > 1 and is_known and all(_are_together(parts, each) for each in places):
                self._part_of |= dict.fromkeys(parts, loop)
                parts = [loop]
            for part in parts:
                self._numbers.setdefault(part, len(self._numbers))
        for loops in inner:
            parts = _leaves([loops])
            is_split = len(loops) == 1 < len(parts) and not self._numbers.keys() & set(parts)
            if is_split and all(part.size != DYNAMIC for part in parts[1:]):
                # Reductions go along the whole.
                self._part_of |= dict.fromkeys(parts, loops[0])
                parts = loops
            for loop in parts:
                self._numbers.setdefault(loop, len(self._numbers))

    def _can_be_indexed(self, steps: list[Step]) -> bool:
        """Returns whether every loop that is reduced is still one, and places can be told."""
        for step in steps:
            children = [each for each in step.inputs if isinstance(each, Step)]
            if not self._can_be_indexed(children):
                return False
            for inner in step.op.regions[0].blocks[0]:
                each = inner.operation
                if each.name == "linalg.index":
                    loop = ir.IntegerAttr(each.attributes["dim"]).value
                    if not self._can_be_told(_leaves([step.loops[loop]])):
                        return False
                elif each.name == "hir.reduce_loops" and self._reduced(step, each) is None:
                    return False
            known = self._numbers.keys() | self._part_of.keys()
            if any(loop not in known for loop in _leaves(step.loops)):
                return False
            places = [each for each in step.inputs if isinstance(each, Place)]
            if not all(self._can_be_told(dim) for each in places for dim in each.index):
                return False
        return True

    def _reduced(self, step: Step, op: ir.Operation) -> list[int] | None:
        """Returns the numbers of loops that a reduction goes along; None where some have none."""
        asked = ir.DenseI64ArrayAttr(op.attributes["loops"])
        found = self._joined(_leaves([step.loops[loop] for loop in sorted(asked)]))
        return None if found is None else [self._numbers[loop] for loop in found]

    def _can_be_told(self, parts: Sequence[Loop]) -> bool:
        """Returns whether these are loops of the operation, or a place can be computed of them."""
        return self._joined(parts) is not None or all(part.size != DYNAMIC for part in parts[1:])

    def _number(self, loops: Sequence[Loop]) -> int | None:
        """Returns the number of the loop that several are together; None where there is none."""
        found = self._joined(_leaves([loops]))
        return self._numbers[found[0]] if found is not None and len(found) == 1 else None

    def _joined(self, parts: Sequence[Loop]) -> list[Loop] | None:
        """Returns the numbered loops that these are, outermost first; None where some are not."""
        found: list[Loop] = []
        rest = list(parts)
        while rest:
            whole = self._part_of.get(rest[0], rest[0])
            own = whole.whole
            if whole not in self._numbers or rest[: len(own)] != own:
                return None
            found.append(whole)
            rest = rest[len(own) :]
        return found

    def _build(self, end: Step | None, result: Place) -> ir.Operation | None:
        """Returns the operation at the insertion point."""
        region, loops = Region(), len(self._numbers)
        (value,) = self._absorb(self._step, region)
        if end is not None:
            (value,) = self._absorb_with(end, [value], region)
        self._leave_out_roundings()
        sizes: list[int | ir.Value] = []
        shape = self._written_loops(result)
        for loop in shape:
            size = 1 if loop is None else self._size(loop)
            if size is None:
                return None
            sizes.append(size)
        element = ir.RankedTensorType(result.value.type).element_type
        places = (zero() if loop is None else self._numbers[loop] for loop in shape)
        output = Access(empty(sizes, element), tuple(places))
        if not self._add_extents(region):
            return None
        region.finish([output], [value])
        inner = [
            self._numbers[each]
            for step in (self._step, self._scores)
            for loop in reducing_loops(step.op)
            for each in self._joined(_leaves([step.loops[loop]])) or []
        ]
        steps = [self._step, self._scores, *([] if end is None else [end])]
        made_of = [step.op for step in steps]
        return make_generic(region.inputs, [output], loops, inner, region.block, of=made_of)

    def _written_loops(self, result: Place) -> list[Loop | None]:
        """Returns the loops of the dims that are written; of many rows, that of heads is last."""
        shape = self._dims_of(result)
        if self._last is not None and self._last in shape:
            shape = [*(loop for loop in shape if loop != self._last), self._last]
        return shape

    def _dims_of(self, result: Place) -> list[Loop | None]:
        """Returns the numbered loops of a place, and None for each dim that has none."""
        rest = [loop for dim in result.index for loop in (dim or [None])]
        found: list[Loop | None] = []
        while rest:
            whole = None if rest[0] is None else self._part_of.get(rest[0], rest[0])
            found.append(whole)
            rest = rest[1 if whole is None else len(whole.whole) :]
        return found

    def _absorb(self, step: Step, region: Region) -> list[ir.Value]:
        """Returns what a step yields, in the region."""
        arguments: list[ir.Value] = []
        for each in step.inputs:
            if isinstance(each, Step):
                (value,) = self._absorb(each, region)
                if self._scores in _steps_of(each):
                    self._rounded.append(value)
            else:
                value = self._read(self._with_wholes(each), region)
            arguments.append(value)
        return self._absorb_with(step, arguments, region)

    def _read(self, place: Place, region: Region) -> ir.Value:
        """Returns a place's element: of an operand, or loaded where dims are parts of loops."""
        if all(self._joined(dim) is not None for dim in place.index):
            return region.input(self._access(place), len(self._numbers))
        return self._extracted(place, region)

    def _with_wholes(self, place: Place) -> Place:
        """Returns the place where dims that follow one another are one, if their loops are."""
        index, dims = place.index, list[tuple[Loop, ...]]()
        groups: list[list[int]] = []
        while (axis := sum(map(len, groups))) < len(index):
            whole = self._part_of.get(index[axis][0]) if index[axis] else None
            own = [] if whole is None else whole.whole
            ends = range(axis + 2, len(index) + 1)
            end = next((each for each in ends if [*joined(*index[axis:each])] == own), axis + 1)
            groups.append(list(range(axis, end)))
            dims.append(tuple(joined(*index[axis:end])))
        if len(groups) == len(index):
            return place
        kind = ir.RankedTensorType(place.value.type)
        shape = [prod(kind.shape[axis] for axis in group) for group in groups]
        is_open = [any(kind.is_dynamic_dim(axis) for axis in group) for group in groups]
        shape = [DYNAMIC if each else size for size, each in zip(shape, is_open, strict=True)]
        type_ = ir.RankedTensorType.get(shape, kind.element_type)
        return Place(collapsed(place.value, type_, groups), tuple(dims))

    def _absorb_with(
        self, step: Step, arguments: Sequence[ir.Value], region: Region
    ) -> list[ir.Value]:
        copy = step.op.clone()
        if step is self._scores:
            _scale_sum(copy, self._factor)
        names = [self._number(loops) for loops in step.loops]
        for op in operations_where(copy, lambda each: each.name == "linalg.index"):
            loops = step.loops[ir.IntegerAttr(op.attributes["dim"]).value]
            if _leaves([loops]) and self._number(loops) is None:
                # Numbers of loops of the whole follow those of the operation's own.
                with op.location, ir.InsertionPoint(op):
                    place = self._place_along(_leaves([loops]), len(names))
                op.results[0].replace_all_uses_with(place)
                op.erase()
        for op in operations_where(copy, lambda each: each.name == "hir.reduce_loops"):
            # And so do those of reductions along parts, which go along the whole.
            found = self._reduced(step, op)
            assert found is not None, "it can be indexed"
            loops = [len(names) + number for number in found]
            op.attributes["loops"] = ir.DenseI64ArrayAttr.get(loops)
        names += range(len(self._numbers))
        outputs = [None] * (len(copy.operands) - len(arguments))
        values = region.absorb(copy, [*arguments, *outputs], names)
        copy.erase()
        return [values[step.result]]

    def _extracted(self, place: Place, region: Region) -> ir.Value:
        """Returns a place's element where dims are parts of loops."""
        with ir.InsertionPoint(region.block):
            index = [self._place_along(dim, 0) for dim in place.index]
            for axis, dim in enumerate(place.index):
                if len(dim) == 1:
                    self._open_dims.setdefault(dim[0], (place.value, axis))
            kind = ir.RankedTensorType(place.value.type).element_type
            return ir.Operation.create(
                "tensor.extract", results=[kind], operands=[place.value, *index]
            ).results[0]

    def _place_along(self, parts: Sequence[Loop], first: int) -> ir.Value:
        """Emits where an iteration is along loops and parts of loops, in a region.

        Loops have their numbers there from `first` on.
        """
        found = index_constant(0)
        for part in parts:
            whole = self._part_of.get(part, part)
            at = _index_along(first + self._numbers[whole])
            own = whole.whole
            inner = prod(each.size for each in own[own.index(part) + 1 :]) if part != whole else 1
            if inner > 1:
                at = arith.divui(at, index_constant(inner))
            if own[0] != part:
                at = arith.remui(at, index_constant(part.size))
            found = (
                at
                if part == parts[0]
                else arith.addi(arith.muli(found, index_constant(part.size)), at)
            )
        return found

    def _add_extents(self, region: Region) -> bool:
        """Lets operands that nothing reads say how long loops are that no other one has.

        Whether their lengths are known.
        """
        has = {loop for read in region.inputs for loop in read.loops}
        for whole in dict.fromkeys(self._part_of.values()):
            number = self._numbers[whole]
            if number in has:
                continue
            first, *others = whole.whole
            inner = prod(each.size for each in others)
            size: int | ir.Value = first.size * inner
            if first.size == DYNAMIC:
                if first not in self._open_dims:
                    return False
                size = arith.muli(dim_of(*self._open_dims[first]), index_constant(inner))
            unread = empty([size], ir.IntegerType.get_signless(8))
            region.input(Access(unread, (number,)), len(self._numbers))
        return True

    def _leave_out_roundings(self) -> None:
        """What is made of scores is not rounded to what would be stored between operations.

        But what the second product takes is: its operands have that type.
        """
        for value in self._rounded[:-1]:
            rounding = made_by(value, "arith.truncf")
            if rounding is None:
                continue
            wide = rounding.operands[0]
            for use in list(value.uses):
                reader = use.owner.operation
                if reader.name == "arith.extf" and reader.results[0].type == wide.type:
                    reader.results[0].replace_all_uses_with(wide)

    def _access(self, place: Place) -> Access:
        """Returns a place's element as an operand, whose dims are one loop each."""
        index = [self._joined(dim) or [] for dim in place.index]
        value = place.value
        for dim in index:
            for loop in dim:
                self._sizes.setdefault(loop, place)
        if any(len(dim) > 1 for dim in index):
            value = _expanded(value, index)
            index = [[*own] for dim in index for own in (zip(dim) if dim else [()])]
        coordinates: list[Coordinate] = [self._numbers[dim[0]] if dim else zero() for dim in index]
        return Access(value, tuple(coordinates))

    def _size(self, loop: Loop) -> int | ir.Value | None:
        """Returns the iterations of a loop, for the result's type."""
        if loop.size != DYNAMIC:
            return loop.size
        place = self._sizes.get(loop)
        if place is None:
            return None
        (axis,) = (number for number, dim in enumerate(place.index) if loop in dim)
        size = dim_of(place.value, axis)
        others = 1
        for other in place.index[axis]:
            if other is not loop:
                if other.size == DYNAMIC:
                    return None
                others *= other.size
        return arith.divui(size, index_constant(others)) if others > 1 else size

    def _in_order(self, value: ir.Value, result: Place) -> ir.Value:
        """Returns the result with a dim for each loop, in the order that is asked for."""
        written, asked = self._written_loops(result), self._dims_of(result)
        if written != asked:
            last = asked.index(self._last)
            rest = range(len(asked) - 1)
            value = _reordered(value, (*rest[:last], len(rest), *rest[last:]))
        parts = [[] if loop is None else loop.whole for loop in asked]
        return _expanded(value, parts) if any(len(each) > 1 for each in parts) else value

    @staticmethod
    def _in_shape(value: ir.Value, result: Place) -> ir.Value:
        """Returns the result in the shape that is asked for."""
        groups: list[list[int]] = []
        at = 0
        for dim in result.index:
            count = max(len(dim), 1)
            groups.append(list(range(at, at + count)))
            at += count
        return collapsed(value, result.value.type, groups)

    def _locations(self, step: Step) -> list[ir.Location]:
        found = [step.op.location]
        for each in step.inputs:
            if isinstance(each, Step):
                found = self._locations(each) + found
        return found


def _loops_of(given: Step | Place) -> set[Loop]:
    """Returns the loops of a step, or of a place, as they are split by now."""
    return set(_leaves(given.loops if isinstance(given, Step) else given.dims))


def _steps_of(step: Step) -> list[Step]:
    """Returns a step, and those that give its operands."""
    inputs = [each for each in step.inputs if isinstance(each, Step)]
    return [step, *joined.from_iterable(map(_steps_of, inputs))]


def _places_of(step: Step) -> Iterator[Place]:
    """Yields what a step, and those that give its operands, read."""
    for own in _steps_of(step):
        yield from (each for each in own.inputs if isinstance(each, Place))


def _are_together(parts: Sequence[Loop], place: Place) -> bool:
    """Returns whether a place has none of these loops, or dims for them alone, in this order."""
    own = set(parts)
    axes = [axis for axis, dim in enumerate(place.index) if own & {*dim}]
    if not axes:
        return True
    dims = place.index[axes[0] : axes[-1] + 1]
    return all(dims) and [*joined.from_iterable(dims)] == list(parts)


def _are_many(rows: Iterable[Loop]) -> bool:
    sizes = [loop.size for loop in rows]
    return DYNAMIC in sizes or prod(sizes) > _MOST_LOADING


def _reordered(value: ir.Value, order: Sequence[int]) -> ir.Value:
    """Returns a copy of a tensor whose dims are those of another order."""
    kind = ir.RankedTensorType(value.type)
    made = ir.RankedTensorType.get([kind.shape[axis] for axis in order], kind.element_type)
    sizes = [dim_of(value, axis) for axis in order if kind.is_dynamic_dim(axis)]
    room = ir.Operation.create("tensor.empty", results=[made], operands=sizes).results[0]
    return copied_to(room, value, order)


def _sums(op: ir.Operation) -> list[ir.Operation]:
    """Returns the reductions in a region."""
    work = [each.operation for each in op.regions[0].blocks[0]]
    return [each for each in work if each.name == "hir.reduce_loops"]


def _scale_sum(op: ir.Operation, factor: float) -> None:
    """Multiplies a region's sum by a factor, and by the constants that its terms have."""
    (sum_,) = _sums(op)
    work = [each.operation for each in op.regions[0].blocks[0]]
    term = made_by(sum_.operands[0], "arith.mulf")
    for number, operand in enumerate([] if term is None else list(term.operands)):
        scaled = made_by(operand, "arith.mulf")
        for value, by in () if scaled is None else permutations(scaled.operands):
            known = number_of(by)
            if term is not None and known is not None and isfinite(known):
                term.operands[number] = value
                factor *= known
                break
    if factor == 1:
        return
    total = sum_.results[0]
    with sum_.location, ir.InsertionPoint(work[work.index(sum_) + 1]):
        product = arith.mulf(total, constant(total.type, factor))
    total.replace_all_uses_with(product)
    product.owner.operands[0] = total


def _erase(ops: list[ir.Operation]) -> None:
    """Erases operations, and those before them that then nothing uses."""
    waiting = list(dict.fromkeys(ops))
    while waiting:
        op = waiting.pop(0)
        if any(list(result.uses) for result in op.results):
            continue
        makers = [
            value.owner.operation
            for value in dict.fromkeys(op.operands)
            if not isinstance(value.owner, ir.Block)
        ]
        op.erase()
        waiting += [
            each
            for each in dict.fromkeys(makers)
            if each.name.startswith(("linalg.", "tensor.")) and each not in waiting
        ]


def _expanded(value: ir.Value, index: Sequence[Sequence[Loop]]) -> ir.Value:
    """Returns a tensor with a dim for each loop."""
    kind = ir.RankedTensorType(value.type)
    groups: list[list[int]] = []
    shape: list[int] = []
    sizes: list[int | ir.Value] = []
    for axis, dim in enumerate(index):
        own = [loop.size for loop in dim] or [1]
        groups.append(list(range(len(shape), len(shape) + len(own))))
        shape += own
        known = 1
        for size in own:
            known *= size if size != DYNAMIC else 1
        for size in own:
            if size != DYNAMIC:
                sizes.append(size)
                continue
            whole = dim_of(value, axis)
            sizes.append(arith.divui(whole, index_constant(known)) if known > 1 else whole)
    result = ir.RankedTensorType.get(shape, kind.element_type)
    dynamic = [size for size in sizes if not isinstance(size, int)]
    return expanded(value, result, groups, dynamic)


def _index_along(loop: int) -> ir.Value:
    """Emits the index of a loop, in a region."""
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loop)
    return ir.Operation.create(
        "linalg.index", results=[ir.IndexType.get()], attributes={"dim": number}
    ).results[0]


def _leaves(loops: Sequence[Sequence[Loop]]) -> list[Loop]:
    """Returns the loops that several stand for, as they are split by now."""
    return list(joined.from_iterable(each.whole for dim in loops for each in dim))

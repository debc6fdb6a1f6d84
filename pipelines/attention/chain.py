"""Finding the operations between a product with values and what its scores are made of."""

from __future__ import annotations

from dataclasses import field
from itertools import islice, permutations
from math import isfinite

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..fusion.access import Access, is_zero
from ..fusion.generic import (
    GENERIC,
    accesses_of,
    inputs_of,
    loop_count,
    make_generic,
    reducing_loops,
)
from ..fusion.normalize import is_normal
from ..fusion.region import Region
from ..products.contraction import read_product
from ..products.fused import begins_with_zeros, build
from ..schedules.attention.reading import number_of
from ..walking import defining_op, made_by, operations_where
from .places import VIEWS, Loop, Place, behind_view, through_view

_REDUCE = "hir.reduce_loops"
_EXTRACT = "tensor.extract"
# What places of elements are computed with.
_OF_PLACES = ("arith.", "linalg.index", _EXTRACT)
# What is repeated for each head, rather than read: places compared, and the like.
_MOST_REPEATED = 16
_MOST_IN_ALL = 64


@dataclass
class Step:
    """An operation whose region becomes part of a larger one.

    `op` is a linalg.generic in the form of normalize-tensor-operations, `loops` what each of its
    loops is, `inputs` what gives its operands: another step, or the place of an element. `result`
    numbers the result that is read.
    """

    op: ir.Operation
    loops: list[list[Loop]]
    inputs: list[Step | Place] = field(default_factory=list)
    result: int = 0


class Chain:
    """Follows what a product's operands are made of.

    `made` has the linalg.generics that were made to stand for others; they are to be erased. Where
    powers are multiplied before they are divided, `divisor` is the place of their total.
    """

    def __init__(self) -> None:
        self.made: list[ir.Operation] = []
        self.scores: Step | None = None
        self.divisor: Place | None = None

    def product(self, op: ir.Operation) -> Step | None:
        """Returns a product as a step, its operands not followed yet."""
        generic = self._as_reduction(op)
        if generic is None:
            return None
        return self._step(generic, [[Loop(size)] for size in _extents(generic)])

    def follow_scores(self, step: Step) -> bool:
        """Makes the softmax before a product its step; whether there is one."""
        for number, place in enumerate(step.inputs):
            assert isinstance(place, Place)
            softmax = self._softmax(place)
            if softmax is None:
                continue
            source, maker = softmax
            found = self._followed(source, maker) or self._divided(source, maker)
            if found is None:
                return False
            step.inputs[number] = found
            return self._follow_inputs(found)
        return False

    def _softmax(self, place: Place) -> tuple[Place, ir.Operation] | None:
        """Returns the place behind reshapes and copies that a softmax gives, and that."""
        # Of other places nothing is asked: reshapes would split the loop of the other's softmax.
        while _leads_to_softmax(place.value):
            source = self._lone_source(place)
            maker = None if source is None else _maker(source)
            if source is None or maker is None:
                return None
            if _is_softmax(maker):
                return source, maker
            behind = _behind_copy(source)
            if behind is None:
                return None
            place = behind
        return None

    def _divided(self, place: Place, maker: ir.Operation) -> Step | None:
        """Returns the softmax of which an operation gives powers and their total, one each."""
        number = ir.OpResult(place.value).result_number
        if len(maker.results) != 2 or not is_normal(maker):
            return None
        accesses, other = accesses_of(maker), 1 - number
        *reads, _, _ = accesses
        loops = loop_count(maker)
        with maker.location, ir.InsertionPoint(maker):
            region, copy = Region(), maker.clone(ir.InsertionPoint(maker))
            arguments: list[ir.Value | None] = [region.input(read, loops) for read in reads]
            results = region.absorb(copy, [*arguments, None, None], range(loops))
            copy.erase()
            rounded = made_by(results[number], "arith.truncf")
            power = results[number] if rounded is None else rounded.operands[0]
            total = made_by(results[other], _REDUCE)
            if total is None or total.operands[0] != power or made_by(power, "math.exp") is None:
                return None
            with ir.InsertionPoint(region.block):
                value = arith.divf(power, total.results[0])
                if rounded is not None:
                    value = arith.truncf(results[number].type, value)
            output = accesses[len(reads) + number]
            region.finish([output], [value])
            inner = reducing_loops(maker)
            made = make_generic(region.inputs, [output], loops, inner, region.block, of=[maker])
        self.made.append(made)
        found = self._at(made, Place(made.results[0], place.dims))
        if found is not None:
            written = accesses[len(reads) + other].index
            dims = (found.loops[each] if isinstance(each, int) else [] for each in written)
            self.divisor = Place(maker.results[other], tuple(tuple(dim) for dim in dims))
        return found

    def end(self, op: ir.Operation, place: Place) -> tuple[ir.Operation, Step, Place] | None:
        """Returns the operation that alone reads what one gives, as a step, and what it gives.

        Where there is a divisor the step leaves out the division by it.
        """
        found = following(op, place)
        if found is None:
            return None
        reader, place = found
        step = reader if self.divisor is None else self._without_division(reader, place)
        end = None if step is None or len(inputs_of(step)) != 1 else finished(step, place)
        return None if end is None else (reader, end[0], Place(reader.results[0], end[1].dims))

    def _without_division(self, reader: ir.Operation, place: Place) -> ir.Operation | None:
        """Returns an operation that reads a product, and its divisor, without the division."""
        inputs = inputs_of(reader)
        if self.divisor is None or len(inputs) != 2 or place.value not in inputs:
            return None
        number = inputs.index(place.value)
        read, other, output = (accesses_of(reader)[each] for each in (number, 1 - number, 2))
        loops: list[list[Loop]] = [[] for _ in range(loop_count(reader))]
        for coordinate, dim in zip(read.index, place.index, strict=True):
            if isinstance(coordinate, int):
                loops[coordinate] = dim
        divisor = _place(other, loops)
        source = None if divisor is None else _source(divisor)
        if source is None or source.value != self.divisor.value:
            return None
        if source.index != self.divisor.index:
            return None
        copy = reader.clone(ir.InsertionPoint(reader))
        product, total = (
            copy.regions[0].blocks[0].arguments[each] for each in (number, 1 - number)
        )
        (use, *more) = total.uses
        division = use.owner.operation
        if not more and division.name == "arith.divf" and division.operands[1] == total:
            value = division.operands[0]
            wide = made_by(value, "arith.extf")
            if product in (value, None if wide is None else wide.operands[0]):
                division.results[0].replace_all_uses_with(value)
                division.erase()
                with reader.location, ir.InsertionPoint(reader):
                    region, count = Region(), loop_count(reader)
                    arguments: list[ir.Value | None] = [None, None, None]
                    arguments[number] = region.input(read, count)
                    values = region.absorb(copy, arguments, range(count))
                    region.finish([output], values)
                    made = make_generic(
                        region.inputs, [output], count, (), region.block, of=[reader]
                    )
                copy.erase()
                self.made.append(made)
                return made
        copy.erase()
        return None

    def _follow_inputs(self, step: Step) -> bool:
        """Makes steps of what leads to the one product; whether there is one."""
        has_product = False
        for number, place in enumerate(step.inputs):
            assert isinstance(place, Place)
            source = self._lone_source(place)
            maker = None if source is None else _maker(source)
            if source is not None and maker is not None:
                product = None if is_normal(maker) and not _reduces(maker) else maker
                if product is not None:
                    generic = None if has_product else self._as_reduction(product)
                    found = None if generic is None else self._at(generic, source)
                    if found is not None:
                        step.inputs[number] = self.scores = found
                        has_product = True
                    continue
                if _is_elementwise(maker):
                    found = self._followed(source, maker)
                    if found is not None and self._follow_inputs(found):
                        step.inputs[number] = found
                        has_product = True
                        continue
            repeated = self._repeated(place)
            if repeated is not None:
                step.inputs[number] = repeated
        return has_product

    def _repeated(self, place: Place, most: int = _MOST_IN_ALL) -> Step | None:
        """Returns what up to `most` operations make of places alone, or cheaply of one operand."""
        source = _source(place)
        maker = _maker(source)
        if maker is None or not is_normal(maker) or not _is_elementwise(maker):
            return None
        body = [each.operation.name for each in maker.regions[0].blocks[0]]
        is_cheap = len(body) <= min(_MOST_REPEATED, most)
        if not is_cheap or any(name.startswith("math.") for name in body):
            return None
        found = self._followed(source, maker)
        if found is None:
            return None
        left = most - len(body)
        for number, each in enumerate(found.inputs):
            assert isinstance(each, Place)
            repeated = self._repeated(each, left)
            if repeated is not None:
                found.inputs[number] = repeated
                left -= _operations(repeated)
        return found if _reads(found) <= 1 else None

    def loaded(self, place: Place, head: Loop) -> Step | None:
        """Returns what loads heads, as rows of a table, where nothing else reads what is loaded."""
        source = self._lone_source(place)
        maker = None if source is None else _maker(source)
        if source is None or maker is None or not is_normal(maker) or len(maker.results) != 1:
            return None
        *work, end = [each.operation for each in maker.regions[0].blocks[0]]
        load = made_by(end.operands[0], _EXTRACT)
        if load is None or len(load.operands) < 2 or reducing_loops(maker):
            return None
        last = made_by(load.operands[len(load.operands) - 1], "linalg.index")
        if last is None or not all(each.name.startswith(_OF_PLACES) for each in work):
            return None
        found = self._at(maker, source)
        if found is None or found.loops[ir.IntegerAttr(last.attributes["dim"]).value] != [head]:
            return None
        return found

    def _lone_source(self, place: Place) -> Place | None:
        """Returns the place behind reshapes, where nothing else reads what lies between."""
        while True:
            users = (use.owner.operation for use in place.value.uses)
            readers = (user for user in users if user not in self.made)
            # A value may have thousands of readers: two are enough.
            if len(list(islice(readers, 2))) != 1:
                return None
            behind = behind_view(place)
            if behind is None:
                return place
            place = behind

    def _followed(self, place: Place, maker: ir.Operation) -> Step | None:
        is_alone = len(maker.results) == 1 or _is_elementwise(maker)
        return self._at(maker, place) if is_normal(maker) and is_alone else None

    def _at(self, generic: ir.Operation, place: Place) -> Step | None:
        """Returns the step that gives a place's element."""
        number = ir.OpResult(place.value).result_number
        write = accesses_of(generic)[len(inputs_of(generic)) + number]
        loops: list[list[Loop]] = [[] for _ in range(loop_count(generic))]
        extents = _extents(generic)
        for coordinate, dim in zip(write.index, place.index, strict=True):
            if isinstance(coordinate, int):
                loops[coordinate] = dim
            elif not is_zero(coordinate):
                return None
        for loop, size in enumerate(extents):
            if loop not in write.loops:
                if loop not in reducing_loops(generic):
                    return None
                loops[loop] = [Loop(size)]
        indexed = operations_where(generic, lambda op: op.name == "linalg.index")
        needed = {ir.IntegerAttr(each.attributes["dim"]).value for each in indexed}
        for reduction in operations_where(generic, lambda op: op.name == _REDUCE):
            needed |= set(ir.DenseI64ArrayAttr(reduction.attributes["loops"]))
        if any(len(loops[loop]) != 1 for loop in needed):
            return None
        found = self._step(generic, loops)
        if found is not None:
            found.result = number
        return found

    @staticmethod
    def _step(generic: ir.Operation, loops: list[list[Loop]]) -> Step | None:
        inputs: list[Step | Place] = []
        for read in accesses_of(generic)[: len(inputs_of(generic))]:
            place = _place(read, loops)
            if place is None:
                return None
            inputs.append(place)
        return Step(generic, loops, inputs)

    def _as_reduction(self, op: ir.Operation) -> ir.Operation | None:
        """Returns a product in the form of normalize-tensor-operations."""
        if op.name == GENERIC and is_normal(op):
            return op if _reduces(op) and len(op.results) == 1 else None
        product = read_product(op) if len(op.operands) == 3 and len(op.results) == 1 else None
        if product is None or not begins_with_zeros(product):
            return None
        found = build(op.clone(ir.InsertionPoint(op)), product, None)
        self.made.append(found)
        return found


def _operations(step: Step) -> int:
    inner = sum(_operations(each) for each in step.inputs if isinstance(each, Step))
    return inner + len(step.op.regions[0].blocks[0].operations)


def _reads(step: Step) -> int:
    """Returns the elements that a step, and those that give its operands, read."""
    return sum(_reads(each) if isinstance(each, Step) else 1 for each in step.inputs)


def behind_copies(place: Place, head: Loop) -> Place:
    """Returns the same element from behind transposes and repetitions, where heads still lie in
    rows.
    """
    best, found = place, place
    while found is not None:
        if _lies_along(found, head):
            best = found
        found = behind_view(found) or _behind_copy(found) or _behind_slice(found)
    return best


def _lies_along(place: Place, head: Loop) -> bool:
    """Returns whether the last dim is the head's; a tensor without dims has none."""
    return place.index[-1:] == [head.whole]


def behind_scales(place: Place, head: Loop) -> tuple[Place, float]:
    """Returns the element from behind copies and products with constants, and these multiplied."""
    factor = 1.0
    while True:
        place = behind_copies(place, head)
        found = _behind_scale(_source(place))
        if found is None or not _lies_along(found[0], head):
            return place, factor
        place, factor = found[0], factor * found[1]


def _behind_scale(place: Place) -> tuple[Place, float] | None:
    """Returns the element that a linalg.generic multiplies by a constant, and that constant."""
    op = _maker(place)
    if op is None or not is_normal(op) or not _is_elementwise(op) or len(op.results) != 1:
        return None
    value = list(op.regions[0].blocks[0])[-1].operation.operands[0]
    rounded = made_by(value, "arith.truncf")
    product = made_by(value if rounded is None else rounded.operands[0], "arith.mulf")
    for one, other in () if product is None else permutations(product.operands):
        wide, factor = made_by(one, "arith.extf"), number_of(other)
        element = one if wide is None else wide.operands[0]
        if factor is None or not isfinite(factor) or element.type != value.type:
            continue
        if isinstance(element.owner, ir.Block) and element.owner == op.regions[0].blocks[0]:
            read = accesses_of(op)[ir.BlockArgument(element).arg_number]
            behind = _behind(op, 0, read, place)
            return None if behind is None else (behind, factor)
    return None


def _behind_copy(place: Place) -> Place | None:
    """Returns the same element of what a linalg.generic copies."""
    op = _maker(place)
    if op is None or not is_normal(op) or not _is_elementwise(op):
        return None
    number = ir.OpResult(place.value).result_number
    copied = _copied(op, number)
    return None if copied is None else _behind(op, number, copied, place)


def _behind(op: ir.Operation, number: int, read: Access, place: Place) -> Place | None:
    """Returns the element that an elementwise operation reads where it writes one of a result."""
    write = accesses_of(op)[len(inputs_of(op)) + number]
    if not write.is_whole:
        return None
    loops: list[list[Loop]] = [[] for _ in range(loop_count(op))]
    for coordinate, dim in zip(write.index, place.index, strict=True):
        if isinstance(coordinate, int):
            loops[coordinate] = dim
    return _place(read, loops)


def _behind_slice(place: Place) -> Place | None:
    """Returns the same element of a slice of what was copied, where a slice of the
    copy was taken.
    """
    owner = place.value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "tensor.extract_slice":
        return None
    op = owner.operation
    copy = _maker(Place(op.operands[0], ()))
    if copy is None or not is_normal(copy) or not _is_elementwise(copy):
        return None
    number = ir.OpResult(op.operands[0]).result_number
    copied = _copied(copy, number)
    write = accesses_of(copy)[len(inputs_of(copy)) + number]
    whole = ir.RankedTensorType(op.operands[0].type)
    kept = iter(place.dims)
    offsets, sizes, steps = (
        list(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"]))
        for name in ("offsets", "sizes", "strides")
    )
    if copied is None or DYNAMIC in (*offsets, *sizes, *steps):
        return None
    is_reduced = len(place.dims) < whole.rank
    if is_reduced and len(place.dims) != sum(size != 1 for size in sizes):
        return None
    dims = [() if is_reduced and size == 1 else next(kept) for size in sizes]
    axes = [write.index.index(each) if isinstance(each, int) else None for each in copied.index]
    if any(not isinstance(each, int) and not is_zero(each) for each in copied.index):
        return None
    source = ir.RankedTensorType(copied.value.type)
    shape = [1 if axis is None else sizes[axis] for axis in axes]
    numbers = {
        "static_offsets": [0 if axis is None else offsets[axis] for axis in axes],
        "static_sizes": shape,
        "static_strides": [1 if axis is None else steps[axis] for axis in axes],
    }
    attributes: dict[str, ir.Attribute] = {
        name: ir.DenseI64ArrayAttr.get(each) for name, each in numbers.items()
    }
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([1, 0, 0, 0])
    slice_ = ir.Operation.create(
        "tensor.extract_slice",
        results=[ir.RankedTensorType.get(shape, source.element_type)],
        operands=[copied.value],
        attributes=attributes,
        ip=ir.InsertionPoint(op),
        loc=op.location,
    )
    found = tuple(() if axis is None else dims[axis] for axis in axes)
    return Place(slice_.results[0], found)


def _copied(op: ir.Operation, number: int) -> Access | None:
    """Returns what a result of a linalg.generic is a copy of."""
    block = op.regions[0].blocks[0]
    yielded = list(block)[-1].operation.operands[number]
    if not isinstance(yielded.owner, ir.Block):
        return None
    read = accesses_of(op)[ir.BlockArgument(yielded).arg_number]
    is_tensor = isinstance(read.value.type, ir.RankedTensorType)
    return read if is_tensor and read.value in inputs_of(op) else None


def following(op: ir.Operation, place: Place) -> tuple[ir.Operation, Place] | None:
    """Returns the operation that alone reads what one gives, element by element, and that element.

    The place is the element of `op`'s result; what comes between are reshapes.
    """
    value = place.value
    while True:
        uses = list(value.uses)
        if len(uses) != 1 or uses[0].owner.operation.block != op.block:
            return None
        reader = uses[0].owner.operation
        moved = through_view(reader, Place(value, place.dims))
        if moved is None:
            break
        place, value = moved, moved.value
    if reader.name != GENERIC or not is_normal(reader) or not _is_elementwise(reader):
        return None
    return (reader, Place(value, place.dims)) if len(reader.results) == 1 else None


def finished(reader: ir.Operation, place: Place) -> tuple[Step, Place] | None:
    """Returns an elementwise operation on an element as a step, and the place of what it gives."""
    read, write = accesses_of(reader)
    loops: list[list[Loop]] = [[] for _ in range(loop_count(reader))]
    if any(not isinstance(each, int) and not is_zero(each) for each in (*read.index, *write.index)):
        return None
    if sorted(read.loops) != sorted(write.loops) or len(set(read.loops)) != len(loops):
        return None
    # Dims of one element may be read, and written, at 0.
    ones: list[tuple[Loop, ...]] = []
    for coordinate, dim in zip(read.index, place.index, strict=True):
        if isinstance(coordinate, int):
            loops[coordinate] = dim
        elif dim:
            ones.append(tuple(dim))
    if operations_where(reader, lambda op: op.name == "linalg.index"):
        return None
    if len(ones) > sum(not isinstance(each, int) for each in write.index):
        return None
    rest = iter(ones)
    dims = tuple(
        tuple(loops[each]) if isinstance(each, int) else next(rest, ()) for each in write.index
    )
    return Step(reader, loops), Place(reader.results[0], dims)


def _place(read: Access, loops: list[list[Loop]]) -> Place | None:
    dims: list[tuple[Loop, ...]] = []
    if not isinstance(read.value.type, ir.RankedTensorType):
        return Place(read.value, ())
    for coordinate in read.index:
        if isinstance(coordinate, int):
            dims.append(tuple(loops[coordinate]))
        elif is_zero(coordinate):
            dims.append(())
        else:
            return None
    return Place(read.value, tuple(dims))


def _source(place: Place) -> Place:
    """Returns the place behind reshapes."""
    while (behind := behind_view(place)) is not None:
        place = behind
    return place


def _maker(place: Place) -> ir.Operation | None:
    maker = defining_op(place.value)
    return maker if maker is not None and maker.name.startswith("linalg.") else None


def _leads_to_softmax(value: ir.Value) -> bool:
    """Returns whether reshapes and copies make a tensor of what may be a softmax's."""
    maker = defining_op(value)
    while maker is not None and not _is_softmax(maker):
        if maker.name in VIEWS:
            value = maker.operands[0]
        else:
            copied = _copied(maker, 0) if _may_copy(maker) and len(maker.results) == 1 else None
            if copied is None:
                return False
            value = copied.value
        maker = defining_op(value)
    return maker is not None


def _may_copy(op: ir.Operation) -> bool:
    return op.name == GENERIC and is_normal(op) and _is_elementwise(op)


def _reduces(op: ir.Operation) -> bool:
    return any(each.operation.name == _REDUCE for each in op.regions[0].blocks[0])


def _is_softmax(op: ir.Operation) -> bool:
    """Returns whether an operation may be a softmax: it has reductions, and a power."""
    if op.name != GENERIC or not is_normal(op):
        return False
    names = [each.operation.name for each in op.regions[0].blocks[0]]
    return names.count(_REDUCE) >= 2 and "math.exp" in names


def _is_elementwise(op: ir.Operation) -> bool:
    return (
        op.name == GENERIC
        and not reducing_loops(op)
        and all(
            each.operation.name.startswith("linalg.index") or _only_computes(each.operation)
            for each in op.regions[0].blocks[0]
        )
    )


def _only_computes(op: ir.Operation) -> bool:
    """Returns whether an operation of a region does nothing but compute."""
    return op.name.startswith(("arith.", "math.")) or op.name == "linalg.yield"


def _extents(op: ir.Operation) -> list[int]:
    """Returns the iterations of each loop, as far as types say them."""
    found = [DYNAMIC] * loop_count(op)
    for read in accesses_of(op):
        if isinstance(read.value.type, ir.RankedTensorType):
            for coordinate, size in zip(read.index, read.value.type.shape, strict=True):
                if isinstance(coordinate, int) and size != DYNAMIC:
                    found[coordinate] = size
    return found

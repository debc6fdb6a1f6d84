"""Transposed convolutions in steps, as ordinary ones of several filters a result.

Such a convolution reads an image whose elements are set apart among zeros. Results whose places
leave the same rest by the step, a phase, read the same places of a window: the rest of it lies on
zeros. So the filters of all phases are filters of one convolution in steps of 1 of the image
itself, and its results lie beside one another: a "sub-pixel" convolution (Shi et al., "Real-time
single image and video super-resolution using an efficient sub-pixel convolutional neural network",
2016). Its windows hold those of all phases; what a phase has none of is a zero. So an infinity or
nan of the image makes results nan that are up to a step beyond its windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from math import prod

from ...dialects.mlir import arith, ir
from ...dialects.records import dataclass
from ..fusion.access import Access, Coordinate, coordinate, expression, linear_terms, reassociation
from ..fusion.fills import filled_with
from ..fusion.generic import (
    GENERIC,
    accesses_of,
    has_tensors_only,
    inputs_of,
    loop_count,
    loop_extents,
    outs_of,
    reducing_loops,
)
from ..generics import bare_generic, element_or, emit_generic, loop_index
from ..rewriting import constant, index_constant
from ..schedules.device import Device
from ..schedules.elements import element_bytes
from ..tensors import collapsed, expanded, fill, padded, part_of
from ..walking import made_by
from .channels import (
    COPIED,
    IN_BOXES,
    KERNEL,
    LEAST_COLUMNS,
    SIDE,
    SINGLE,
    TOGETHER,
    TOGETHER_BYTES,
    tile_copies,
)
from .reads import SetApart, set_apart

# Seconds for an element that a thread finds among those set apart: of two convolutions on an H200.
_SINGLE_APART = 2 * SINGLE
# What tensor cores add up in has so many bytes.
_SUM_BYTES = 4


@dataclass(frozen=True, eq=False)
class _Dim:
    """A dim of the image: its results' loop and its window's, of so many iterations.

    `apart` says how the image's elements lie among zeros; places of a window are `dilation` apart.
    """

    image: int
    loop: int
    window: int
    results: int
    places: int
    dilation: int
    apart: SetApart

    @cached_property
    def shifts(self) -> range:
        """How far from a result's place, in elements of the image, those lie that it reads."""
        step, before = self.apart.by, self.apart.before
        found = [
            (phase + place * self.dilation - before) // step
            for phase in range(step)
            for place in range(self.places)
            if (phase + place * self.dilation - before) % step == 0
        ]
        return range(min(found), max(found) + 1) if found else range(1)

    @property
    def of_phase(self) -> int:
        """The results of a phase."""
        return -(-self.results // self.apart.by)

    @property
    def is_whole(self) -> bool:
        """Whether each phase has as many results."""
        return self.results % self.apart.by == 0


def form_subpixel_convolution(op: ir.Operation, device: Device) -> ir.Operation:
    """Returns a sub-pixel convolution in place of a transposed one, a linalg.generic.

    Returns the same operation where it is none, its sizes are open, or it takes longer so; and
    where results beyond the ends are to be left out of those of 16 bits: what follows is not to be
    computed of rounded sums.
    """
    found = _dims(op)
    if not found or not _pays(op, found, device):
        return op
    element = ir.RankedTensorType(op.results[0].type).element_type
    if element_bytes(element) < _SUM_BYTES and not all(each.is_whole for each in found):
        return op
    with op.location, ir.InsertionPoint(op):
        made = Subpixel(op, found).emit()
    op.erase()
    return made


def _pays(op: ir.Operation, dims: Sequence[_Dim], device: Device) -> bool:
    """Returns whether tiles of all phases take less time than threads that gather elements.

    Those multiply by places of the window that lie on elements alone, and read channels one by one
    unless rows of them are multiples of 16 bytes. Tiles of both are of 128x128, or of 64 filters at
    least where threads copy channels together.
    """
    image, weights = accesses_of(op)[: len(inputs_of(op))]
    extents, reducing = loop_extents(op), set(reducing_loops(op))
    windows = {dim.window for dim in dims}
    channels = prod(extents[loop] for loop in reducing & set(image.loops) & set(weights.loops))
    own = [loop for loop in weights.loops if loop not in reducing and loop not in image.loops]
    width = prod(extents[loop] for loop in own)
    results = prod(size for loop, size in extents.items() if loop not in reducing)
    terms = prod(extents[loop] for loop in reducing - windows)
    steps = prod(dim.apart.by for dim in dims)
    # Of the rows of a phase, and the filters of all.
    rows = results // width * prod(dim.of_phase for dim in dims)
    rows //= prod(dim.results for dim in dims)
    size = element_bytes(ir.RankedTensorType(image.value.type).element_type)

    # Threads that copy channels together reach this rate, of f32 half of it.
    together = TOGETHER * max(size / 2, 1)
    gathered = terms * prod(dim.places for dim in dims) // steps
    if channels * size % TOGETHER_BYTES == 0:
        filled = -(-width // LEAST_COLUMNS) * LEAST_COLUMNS
        before = 2 * results // width * filled * gathered * together
    else:
        before = gathered * tile_copies(results // width, width) * _SINGLE_APART
    of_tile = 2 * SIDE**2 * terms * prod(len(dim.shifts) for dim in dims)
    tiles = -(-rows // SIDE) * -(-width * steps // SIDE)
    waves = -(-tiles // device.multiprocessors)
    rate = IN_BOXES[size] if device.has_warpgroup_products else together
    after = waves * device.multiprocessors * of_tile * rate
    if not all(dim.is_whole for dim in dims):
        after += 2 * size * results * COPIED + KERNEL
    return after < before


def _dims(op: ir.Operation) -> list[_Dim]:
    """Returns the dims along which elements are set apart; none where it may not be one."""
    image, weights = accesses_of(op)[: len(inputs_of(op))]
    (written,) = accesses_of(op)[len(inputs_of(op)) :]
    reducing, extents = set(reducing_loops(op)), loop_extents(op)
    apart = set_apart(image.value)
    if apart is None or not written.is_whole or any(size < 1 for size in extents.values()):
        return []
    if not all(isinstance(each, int) for each in weights.index):
        return []
    # Without channels to sum over, nothing is multiplied by tensor cores.
    if not reducing & set(image.loops) & set(weights.loops):
        return []
    found: list[_Dim] = []
    for dim, (each, axis) in enumerate(zip(image.index, apart, strict=True)):
        if axis.by == 1:
            continue
        linear = linear_terms(expression(each))
        if linear is None or linear[0]:
            return []
        windows = [loop for loop in linear[1] if loop in reducing]
        loops = [loop for loop in linear[1] if loop not in reducing]
        if len(windows) != 1 or len(loops) != 1 or linear[1][loops[0]] != 1:
            return []
        (window,), (loop,) = windows, loops
        if weights.index.count(window) != 1 or linear[1][window] < 1:
            return []
        sizes = extents[loop], extents[window]
        found.append(_Dim(dim, loop, window, *sizes, linear[1][window], axis))
    return found


class Subpixel:
    """Emits the sub-pixel convolution, the filters and the image that it reads."""

    def __init__(self, op: ir.Operation, dims: Sequence[_Dim]) -> None:
        self._op, self._dims = op, dims
        self._image, self._weights, self._written = accesses_of(op)
        # The loops: a phase follows its results' loop.
        self._places: dict[int, int] = {}
        self._phases: dict[int, int] = {}
        count = 0
        for loop in range(loop_count(op)):
            self._places[loop] = count
            count += 1
            if any(dim.loop == loop for dim in dims):
                self._phases[loop] = count
                count += 1
        self._count = count

    def emit(self) -> ir.Operation:
        """Emits all, in place of what reads the results; returns the convolution."""
        init = outs_of(self._op)[0]
        kind = ir.RankedTensorType(init.type)
        begun = self._begun(init)
        accumulates = begun is not None
        if begun is None:
            # Results that are beyond the ends begin as nothing.
            begun = fill(constant(kind.element_type, 0), self._empty(kind.element_type))
        image = self._read_image()
        weights = self._read_weights()
        written = Access(begun, self._split(self._written.index))
        reads = [(each.value, each.map(self._count)) for each in (image, weights)]
        reduced = [self._places[loop] for loop in reducing_loops(self._op)]
        made = bare_generic(self._count, reduced, reads, [(begun, written.map(self._count))])
        block = self._op.regions[0].blocks[0]
        block.append_to(made.regions[0])
        if accumulates:
            self._replace(self._op, made.results[0])
        else:
            self._replace_with_sum(made.results[0], init)
        return made

    # What is read.

    def _read_image(self) -> Access:
        """The image itself, with zeros around it as far as windows reach."""
        value, index = _unset(self._image.value), list[Coordinate]()
        kind = ir.RankedTensorType(value.type)
        axes = set_apart(self._image.value)
        assert axes is not None
        by_dim = {dim.image: dim for dim in self._dims}
        whole = ir.RankedTensorType(self._image.value.type).shape
        low, high = [0] * kind.rank, [0] * kind.rank
        for at, (each, axis) in enumerate(zip(self._image.index, axes, strict=True)):
            dim = by_dim.get(at)
            if dim is None:
                low[at], high[at] = axis.before, whole[at] - axis.before - kind.shape[at]
                index.append(self._renamed(each))
                continue
            low[at] = max(-dim.shifts.start, 0)
            reach = low[at] + dim.shifts.stop + dim.of_phase - 1
            high[at] = max(reach - low[at] - kind.shape[at], 0)
            index.append(
                _sum(self._places[dim.loop], self._places[dim.window], low[at] + dim.shifts.start)
            )
        if any(low) or any(high):
            shape = [
                size + more + less for size, more, less in zip(kind.shape, low, high, strict=True)
            ]
            made = ir.RankedTensorType.get(shape, kind.element_type)
            value = padded(value, made, low, high, constant(kind.element_type, 0))
        return Access(value, tuple(index))

    def _read_weights(self) -> Access:
        """The filters, each with those of its phases, channels last."""
        source, dims = self._weights.value, self._dims
        kind = ir.RankedTensorType(source.type)
        windows = {dim.window: number for number, dim in enumerate(dims)}
        reducing = set(reducing_loops(self._op))

        def key(loop: int) -> int:
            return 1 if loop in windows else 2 if loop in reducing else 0

        sizes = dict(zip(self._weights.loops, kind.shape, strict=True))
        order = sorted(self._weights.loops, key=key)
        # Phases come behind filters and groups, as they do in results.
        first = sum(key(loop) == 0 for loop in order)
        shape = [sizes[loop] for loop in order[:first]]
        shape += [dim.apart.by for dim in dims]
        shape += [
            len(dims[windows[loop]].shifts) if loop in windows else sizes[loop]
            for loop in order[first:]
        ]
        made = ir.RankedTensorType.get(shape, kind.element_type)
        room = ir.Operation.create("tensor.empty", results=[made]).results[0]

        def body(_: Sequence[ir.Value]) -> list[ir.Value]:
            nothing = constant(kind.element_type, 0)
            conditions, places = list[ir.Value](), dict[int, ir.Value]()
            for at, loop in enumerate(order):
                places[loop] = loop_index(at if at < first else at + len(dims))
                if loop in windows:
                    number = windows[loop]
                    held, places[loop] = _place_in_window(
                        dims[number], loop_index(first + number), places[loop]
                    )
                    conditions += held
            from_ = [places[loop] for loop in self._weights.loops]
            return [element_or(reduce(arith.andi, conditions), source, from_, nothing)]

        identity = ir.AffineMap.get_identity(len(shape))
        filters = emit_generic(len(shape), (), [], [(room, identity)], body)
        index = [self._places[loop] for loop in order[:first]]
        index += [self._phases[dim.loop] for dim in dims]
        index += [self._places[loop] for loop in order[first:]]
        return Access(filters.results[0], tuple(index))

    # What is written.

    def _split(self, index: Sequence[Coordinate]) -> tuple[Coordinate, ...]:
        """The loops of results and their phases, of each dim."""
        found: list[Coordinate] = []
        for each in index:
            if isinstance(each, int) and each in self._phases:
                found += [self._places[each], self._phases[each]]
            else:
                found.append(self._renamed(each))
        return tuple(found)

    @cached_property
    def _groups(self) -> list[list[int]]:
        """The dims of a result's places and phases, of each dim of results."""
        groups: list[list[int]] = []
        count = 0
        for each in self._written.index:
            size = 2 if isinstance(each, int) and each in self._phases else 1
            groups.append(list(range(count, count + size)))
            count += size
        return groups

    def _shape(self) -> list[int]:
        dims = {dim.loop: dim for dim in self._dims}
        sizes = ir.RankedTensorType(self._written.value.type).shape
        shape: list[int] = []
        for each, size in zip(self._written.index, sizes, strict=True):
            dim = dims.get(each) if isinstance(each, int) else None
            shape += [size] if dim is None else [dim.of_phase, dim.apart.by]
        return shape

    def _empty(self, element: ir.Type) -> ir.Value:
        kind = ir.RankedTensorType.get(self._shape(), element)
        return ir.Operation.create("tensor.empty", results=[kind]).results[0]

    @property
    def _is_whole(self) -> bool:
        """Whether each phase has as many results."""
        return all(dim.is_whole for dim in self._dims)

    def _begun(self, init: ir.Value) -> ir.Value | None:
        """What results begin as, by phases; None where it is added to them."""
        element = ir.RankedTensorType(init.type).element_type
        filling = filled_with(init)
        if filling is not None:
            return fill(filling, self._empty(element))
        if self._is_whole:
            made = ir.RankedTensorType.get(self._shape(), element)
            return expanded(init, made, self._groups)
        return self._repeated(init)

    def _repeated(self, init: ir.Value) -> ir.Value | None:
        """What is repeated along all dims that have phases, along these; None for anything else."""
        op = made_by(init, "linalg.broadcast")
        if op is None:
            return None
        repeated = set(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        if any(len(group) > 1 for dim, group in enumerate(self._groups) if dim not in repeated):
            return None
        rank = len(self._shape())
        dims = [
            ir.AffineExpr.get_dim(group[0])
            for dim, group in enumerate(self._groups)
            if dim not in repeated
        ]
        room = self._empty(ir.RankedTensorType(init.type).element_type)
        source, identity = ir.AffineMap.get(rank, 0, dims), ir.AffineMap.get_identity(rank)
        return emit_generic(
            rank, (), [(op.operands[0], source)], [(room, identity)], lambda elements: [elements[0]]
        ).results[0]

    def _together(self, value: ir.Value) -> ir.Value:
        """Results beside one another, without those beyond the ends."""
        kind = ir.RankedTensorType(value.type)
        sizes = [prod(kind.shape[dim] for dim in group) for group in self._groups]
        whole = collapsed(value, ir.RankedTensorType.get(sizes, kind.element_type), self._groups)
        if self._is_whole:
            return whole
        shape = ir.RankedTensorType(self._written.value.type).shape
        return part_of(whole, ir.RankedTensorType.get(shape, kind.element_type))

    def _replace(self, op: ir.Operation, made: ir.Value) -> None:
        """Puts results in place of an operation's, rounded first where all that follows is that."""
        rounding = None if self._is_whole else _rounding(op)
        if rounding is not None:
            made, op = self._rounded(made, rounding), rounding
        op.results[0].replace_all_uses_with(self._together(made))
        if rounding is not None:
            rounding.erase()

    def _replace_with_sum(self, made: ir.Value, init: ir.Value) -> None:
        part = self._together(made)
        kind = ir.RankedTensorType(part.type)
        identity = ir.AffineMap.get_identity(kind.rank)
        room = ir.Operation.create("tensor.empty", results=[kind]).results[0]
        is_float = isinstance(kind.element_type, ir.FloatType)
        add = arith.addf if is_float else arith.addi
        total = emit_generic(
            kind.rank,
            (),
            [(part, identity), (init, identity)],
            [(room, identity)],
            lambda elements: [add(elements[0], elements[1])],
        )
        self._op.results[0].replace_all_uses_with(total.results[0])

    def _rounded(self, made: ir.Value, rounding: ir.Operation) -> ir.Value:
        element = ir.RankedTensorType(rounding.results[0].type).element_type
        identity = ir.AffineMap.get_identity(len(self._shape()))
        room = self._empty(element)
        new = bare_generic(len(self._shape()), (), [(made, identity)], [(room, identity)])
        rounding.regions[0].blocks[0].append_to(new.regions[0])
        return new.results[0]

    def _renamed(self, each: Coordinate) -> Coordinate:
        if isinstance(each, int):
            return self._places[each]
        count = loop_count(self._op)
        names = [ir.AffineExpr.get_dim(self._places[loop]) for loop in range(count)]
        map_ = ir.AffineMap.get(count, 0, [each])
        places = ir.AffineMap.get(self._count, 0, names)
        return coordinate(_composed(map_, places))


def _composed(map_: ir.AffineMap, names: ir.AffineMap) -> ir.AffineExpr:
    """Returns a map's result in other dims: linear, as all that a convolution reads at."""
    (each,) = map_.results
    linear = linear_terms(each)
    assert linear is not None
    return reduce(
        lambda sum_, term: sum_ + names.results[term[0]] * term[1],
        linear[1].items(),
        ir.AffineExpr.get_constant(linear[0]),
    )


def _sum(one: int, other: int, more: int) -> ir.AffineExpr:
    return ir.AffineExpr.get_dim(one) + ir.AffineExpr.get_dim(other) + more


def _place_in_window(
    dim: _Dim, phase: ir.Value, shift: ir.Value
) -> tuple[list[ir.Value], ir.Value]:
    """Returns whether a phase reads a place of the window at a shift, and which."""
    step = dim.apart.by
    place = arith.muli(shift, index_constant(step))
    place = arith.addi(place, index_constant(dim.shifts.start * step + dim.apart.before))
    place = arith.subi(place, phase)
    # Below 0 it is far beyond, as a number without sign.
    held = list[ir.Value]()
    if dim.dilation > 1:
        by = index_constant(dim.dilation)
        rest = arith.remui(place, by)
        held.append(arith.cmpi(arith.CmpIPredicate.eq, rest, index_constant(0)))
        held.append(_is_below(place, dim.places * dim.dilation))
        return held, arith.divui(place, by)
    return [_is_below(place, dim.places)], place


def _is_below(place: ir.Value, end: int) -> ir.Value:
    return arith.cmpi(arith.CmpIPredicate.ult, place, index_constant(end))


def _unset(value: ir.Value) -> ir.Value:
    """Returns the image before its elements were set apart, with the dims that it is read in."""
    inserted = made_by(value, "tensor.insert_slice")
    if inserted is not None:
        return inserted.operands[0]
    reshape = made_by(value, "tensor.expand_shape")
    assert reshape is not None
    source = _unset(reshape.operands[0])
    kind, sizes = ir.RankedTensorType(value.type), ir.RankedTensorType(source.type).shape
    groups = reassociation(reshape)
    shape = list(kind.shape)
    for size, group in zip(sizes, groups, strict=True):
        if len(group) == 1:
            shape[group[0]] = size
    return expanded(source, ir.RankedTensorType.get(shape, kind.element_type), groups)


def _rounding(op: ir.Operation) -> ir.Operation | None:
    """Returns what rounds each result of an operation, if nothing else reads them."""
    users = [use.owner.operation for use in op.results[0].uses]
    if len(users) != 1 or users[0].name != GENERIC or not has_tensors_only(users[0]):
        return None
    (user,) = users
    accesses, block = accesses_of(user), user.regions[0].blocks[0]
    names = [inner.operation.name for inner in block]
    is_alone = len(accesses) == 2 and len(inputs_of(user)) == 1 and len(user.results) == 1
    is_in_place = is_alone and accesses[0].index == accesses[1].index and accesses[0].is_whole
    return user if is_in_place and names == ["arith.truncf", "linalg.yield"] else None

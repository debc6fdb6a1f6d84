"""Philox 4x32-10, as a linalg.generic that computes each element's number from its place.

The numbers are those of torch's CUDA generator on a device of 132 multiprocessors with 2048 threads
each (H100, H200). A thread there makes four numbers of 32 bits at a time, for elements that are as
many places apart as there are threads; so tensors of no more elements than a device has threads get
the same numbers on any device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ...dialects.mlir import arith, ir
from ...dialects.mlir import math as floats
from ...pipelines.rewriting import constant
from ...pipelines.tensors import dim_of

_BLOCK = 256
_MOST_BLOCKS = 132 * 2048 // _BLOCK
# An offset counts numbers of 32 bits; each drawing takes four.
_AT_A_TIME = 4
_FACTORS = 0xD2511F53, 0xCD9E8D57
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10
_LOW_32 = 0xFFFFFFFF

_Numbers = tuple[ir.Value, ...]


def count_of(numel: int, kind: str) -> int:
    """By how much the offset grows where so many numbers of a kind are drawn."""
    if not numel:
        return 0
    threads = _BLOCK * min(_MOST_BLOCKS, -(-numel // _BLOCK))
    return ((numel - 1) // (threads * _lanes(kind)) + 1) * _AT_A_TIME


def emit_count(sizes: Sequence[ir.Value], kind: str) -> ir.Value:
    """Returns the same of sizes, i64, that are known when the program runs."""
    i64 = _integer(64)
    zero, one = constant(i64, 0), constant(i64, 1)
    numel = _product([one, *sizes])
    some = arith.maxsi(numel, one)
    apart = arith.muli(_emit_threads(some), constant(i64, _lanes(kind)))
    turns = arith.addi(arith.divui(arith.subi(some, one), apart), one)
    count = arith.muli(turns, constant(i64, _AT_A_TIME))
    return arith.select(arith.cmpi(arith.CmpIPredicate.eq, numel, zero), zero, count)


def element_type(kind: str) -> ir.Type:
    """Returns what numbers of a kind are: bits are integers, of 64 bits also where
    32 are random.
    """
    if kind.startswith("bits"):
        return _integer(64)
    return ir.F64Type.get() if kind.endswith("64") else ir.F32Type.get()


def emit_drawing(
    generator: ir.Value,
    offset: ir.Value,
    kind: str,
    shape: Sequence[int],
    sizes: Sequence[ir.Value],
) -> ir.Value:
    """Returns a tensor of random numbers: uniform in (0, 1], normal, or bits; of 32 or 64 bits
    each.

    `generator` is a tensor<2xi64>, the seed and the offset where the call begins; earlier drawings
    of the call have moved that by `offset`, i64. `sizes` are the open sizes, i64.
    """
    i64 = _integer(64)
    seed, begin = (_scalar(generator, place) for place in range(2))
    fixed = math.prod(size for size in shape if size >= 0)
    # Places are counted in 32 bits where that will do.
    kind_of_place = i64 if sizes or fixed > _LOW_32 >> 1 else _integer(32)
    counted = _product([constant(kind_of_place, fixed), *sizes])
    open_ = iter(sizes)
    extents = [constant(kind_of_place, size) if size >= 0 else next(open_) for size in shape]

    def number(given: Sequence[ir.Value]) -> ir.Value:
        place = constant(counted.type, 0)
        for axis, extent in enumerate(extents):
            place = arith.addi(arith.muli(place, extent), _place(axis, counted.type))
        if sizes or math.prod(shape) > _BLOCK * _MOST_BLOCKS:
            threads = _emit_threads(counted)
            turn, thread = arith.divui(place, threads), arith.remui(place, threads)
        else:
            turn, thread = None, place
        return _number(given[0], arith.addi(given[1], offset), thread, turn, kind)

    room = ir.Operation.create(
        "tensor.empty",
        [ir.RankedTensorType.get([*shape], element_type(kind))],
        [arith.index_cast(ir.IndexType.get(), size) for size in sizes],
    ).results[0]
    return emit_each_element([seed, begin], room, number)


def emit_advance(generator: ir.Value, offset: ir.Value) -> ir.Value:
    """The generator after a call whose drawings move the offset by so much, i64."""
    room = ir.Operation.create("tensor.empty", [generator.type], []).results[0]
    return emit_each_element(
        [generator],
        room,
        lambda given: arith.addi(given[0], arith.muli(_place(0, offset.type), offset)),
    )


def _integer(width: int) -> ir.Type:
    return ir.IntegerType.get_signless(width)


def _lanes(kind: str) -> int:
    """Returns how many elements four numbers make."""
    return 2 if kind.endswith("64") else 4


def _product(values: Sequence[ir.Value]) -> ir.Value:
    product = values[0]
    for value in values[1:]:
        product = arith.muli(product, value)
    return product


def _emit_threads(numel: ir.Value) -> ir.Value:
    blocks = arith.ceildivui(numel, constant(numel.type, _BLOCK))
    fewer = arith.minui(blocks, constant(numel.type, _MOST_BLOCKS))
    return arith.muli(arith.maxui(fewer, constant(numel.type, 1)), constant(numel.type, _BLOCK))


def _place(axis: int, kind: ir.Type) -> ir.Value:
    """Returns the element's place along an axis."""
    number = ir.IntegerAttr.get(_integer(64), axis)
    index = ir.Operation.create("linalg.index", [ir.IndexType.get()], attributes={"dim": number})
    return arith.index_cast(kind, index.results[0])


def _scalar(generator: ir.Value, place: int) -> ir.Value:
    """Returns a part of the generator, as a tensor without dims."""
    kind = ir.RankedTensorType(generator.type)
    return ir.Operation.create(
        "tensor.extract_slice",
        [ir.RankedTensorType.get([], kind.element_type)],
        [generator],
        {
            "static_offsets": ir.DenseI64ArrayAttr.get([place]),
            "static_sizes": ir.DenseI64ArrayAttr.get([1]),
            "static_strides": ir.DenseI64ArrayAttr.get([1]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
        },
    ).results[0]


def room_like(x: ir.Value, result: ir.Type) -> ir.Value:
    """Returns an empty tensor of a type, with the open sizes of another tensor."""
    kind = ir.RankedTensorType(result)
    open_ = [dim_of(x, axis) for axis in range(kind.rank) if kind.is_dynamic_dim(axis)]
    return ir.Operation.create("tensor.empty", [kind], open_).results[0]


def emit_each_element(
    operands: Sequence[ir.Value],
    room: ir.Value,
    body: Callable[[Sequence[ir.Value]], ir.Value],
    along: int | None = None,
    dims: Sequence[Sequence[int]] | None = None,
) -> ir.Value:
    """Returns a linalg.generic over a tensor's elements, of operands that are as large or have no
    dims; with `dims`, each has those of the tensor's. Where the body scans `along` a dim, that loop
    is a reduction.
    """
    rank = ir.RankedTensorType(room.type).rank
    identity = ir.AffineMap.get_identity(rank)
    if dims is None:
        dims = [range(ir.RankedTensorType(each.type).rank) for each in operands]
    maps = [ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(dim) for dim in own]) for own in dims]
    kinds = ["reduction" if loop == along else "parallel" for loop in range(rank)]
    made = ir.Operation.create(
        "linalg.generic",
        [room.type],
        [*operands, room],
        {
            "indexing_maps": ir.ArrayAttr.get(
                [ir.AffineMapAttr.get(each) for each in (*maps, identity)]
            ),
            "iterator_types": ir.ArrayAttr.get(
                [ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds]
            ),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 1]),
        },
        regions=1,
    )
    types = [ir.RankedTensorType(each.type).element_type for each in (*operands, room)]
    location = ir.Location.current
    block = made.regions[0].blocks.append(*types, arg_locs=[location] * len(types))
    with ir.InsertionPoint(block):
        result = body(list(block.arguments)[:-1])
        ir.Operation.create("linalg.yield", operands=[result])
    return made.results[0]


def _number(
    seed: ir.Value, offset: ir.Value, thread: ir.Value, turn: ir.Value | None, kind: str
) -> ir.Value:
    """Returns the number of a thread's element; `turn` counts its elements, None
    where it has one.
    """
    lanes = _lanes(kind)
    counter = arith.shrui(offset, constant(offset.type, 2))
    if turn is None:
        four = _philox(_halves(counter) + _halves(_wide(thread)), _halves(seed))
        return _made(four, None, kind)
    drawing = _wide(arith.divui(turn, constant(turn.type, lanes)))
    four = _philox(_halves(arith.addi(counter, drawing)) + _halves(_wide(thread)), _halves(seed))
    lane = arith.remui(turn, constant(turn.type, lanes))
    if kind in ("uniform32", "bits32"):
        chosen = four[0]
        for place in range(1, lanes):
            is_here = arith.cmpi(arith.CmpIPredicate.eq, lane, constant(lane.type, place))
            chosen = arith.select(is_here, four[place], chosen)
        return _made((chosen,), None, kind)
    is_odd = arith.trunci(_integer(1), lane)
    if kind == "normal32":
        is_second = arith.cmpi(arith.CmpIPredicate.uge, lane, constant(lane.type, 2))
        pair = tuple(arith.select(is_second, four[place + 2], four[place]) for place in range(2))
        return _made(pair, is_odd, kind)
    if kind == "normal64":
        return _made(four, is_odd, kind)
    pair = tuple(arith.select(is_odd, four[place + 2], four[place]) for place in range(2))
    return _made(pair, None, kind)


def _halves(x: ir.Value) -> _Numbers:
    i32 = _integer(32)
    return arith.trunci(i32, x), arith.trunci(i32, arith.shrui(x, constant(x.type, 32)))


def _philox(counter: _Numbers, key: _Numbers) -> _Numbers:
    i32 = _integer(32)
    for round_ in range(_ROUNDS):
        if round_:
            steps = (constant(i32, step) for step in _KEY_STEPS)
            key = tuple(arith.addi(part, step) for part, step in zip(key, steps, strict=True))
        (low0, high0), (low1, high1) = (
            _halves(arith.muli(_wide(counter[place]), constant(_integer(64), factor)))
            for place, factor in zip((0, 2), _FACTORS, strict=True)
        )
        counter = (
            arith.xori(arith.xori(high1, counter[1]), key[0]),
            low1,
            arith.xori(arith.xori(high0, counter[3]), key[1]),
            low0,
        )
    return counter


def _wide(x: ir.Value) -> ir.Value:
    i64 = _integer(64)
    return x if x.type == i64 else arith.extui(i64, x)


def _made(bits: _Numbers, is_odd: ir.Value | None, kind: str) -> ir.Value:
    """Returns the number that bits, 32 each, make: a pair makes two normal ones, of which one is
    odd.
    """
    f32, f64 = ir.F32Type.get(), ir.F64Type.get()

    def fraction(x: ir.Value, unit: float, kind: ir.Type) -> ir.Value:
        number = arith.mulf(arith.uitofp(kind, x), constant(kind, unit))
        return arith.addf(number, constant(kind, unit / 2))

    def of_53(first: int) -> ir.Value:
        low, high = _wide(bits[first]), _wide(bits[first + 1])
        return arith.xori(low, arith.shli(high, constant(low.type, 53 - 32)))

    def normal(u: ir.Value, angle: ir.Value) -> ir.Value:
        length = floats.sqrt(arith.mulf(constant(u.type, -2), floats.log(u)))
        wave = floats.sin(angle)
        if is_odd is not None:
            wave = arith.select(is_odd, floats.cos(angle), wave)
        return arith.mulf(length, wave)

    if kind == "uniform32":
        return fraction(bits[0], 2**-32, f32)
    if kind == "uniform64":
        return fraction(of_53(0), 2**-53, f64)
    if kind == "normal32":
        angle = fraction(bits[1], 2**-32 * 2 * math.pi, f32)
        return normal(fraction(bits[0], 2**-32, f32), angle)
    if kind == "normal64":
        return normal(fraction(of_53(0), 2**-53, f64), fraction(of_53(2), 2**-52 * math.pi, f64))
    if kind == "bits32":
        return _wide(bits[0])
    high, low = _wide(bits[0]), _wide(bits[1])
    return arith.ori(arith.shli(high, constant(high.type, 32)), low)

"""torch.cond, while_loop, scan, map and associative_scan as branches and loops of the host."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...compiler.errors import Position, UnsupportedError
from ...dialects.mlir import ir, scf
from ...pipelines.locations import file_position
from ...pipelines.rewriting import index_constant
from ...pipelines.tensors import cast_to, dim_of
from .declared import DYNAMIC, Declared


def cond(declared: Declared) -> Sequence[ir.Value]:
    """Returns the results of a branch."""
    condition, *operands = declared.arguments
    branches = ir.Operation.create("scf.if", [*declared.results], [_truth(condition)], regions=2)
    for region, name in zip(branches.regions, declared.bodies, strict=True):
        with ir.InsertionPoint(region.blocks.append()):
            scf.YieldOp(_call(name, operands, declared.results))
    return list(branches.results)


def _truth(condition: ir.Value) -> ir.Value:
    if isinstance(condition.type, ir.IntegerType):
        return condition
    kind = ir.RankedTensorType(condition.type)
    places = [index_constant(0)] * len(kind.shape)
    made = ir.Operation.create("tensor.extract", [kind.element_type], [condition, *places])
    return made.results[0]


def loop_while(declared: Declared) -> Sequence[ir.Value]:
    """Returns a loop that goes on as long as what it carries says so."""
    carries, _ = declared.counts
    begin = [
        cast_to(value, kind)
        for value, kind in zip(declared.arguments, declared.results, strict=False)
    ]
    stays = declared.arguments[carries:]
    loop = scf.WhileOp([*declared.results], begin)
    before = loop.before.blocks.append(
        *declared.results, arg_locs=[declared.function.location] * carries
    )
    with ir.InsertionPoint(before):
        carried = list(before.arguments)
        truth = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
        (goes_on,) = _call(declared.bodies[0], [*carried, *stays], [truth])
        scf.ConditionOp(_truth(goes_on), carried)
    after = loop.after.blocks.append(
        *declared.results, arg_locs=[declared.function.location] * carries
    )
    with ir.InsertionPoint(after):
        scf.YieldOp(_call(declared.bodies[1], [*after.arguments, *stays], declared.results))
    return list(loop.results)


def scan(declared: Declared) -> Sequence[ir.Value]:
    """Returns a loop along the first dim of what is gone through."""
    carries, goes = declared.counts
    along, stays = (
        declared.arguments[carries : carries + goes],
        declared.arguments[carries + goes :],
    )
    begin = [
        cast_to(value, kind)
        for value, kind in zip(
            declared.arguments[:carries], declared.results[:carries], strict=True
        )
    ]
    begin += [_room(declared, place) for place in range(carries, len(declared.results))]

    def body(place: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        given = [*carried[:carries], *(_part(each, place) for each in along), *stays]
        kinds = [*declared.results[:carries], *map(_kind_of_part, declared.results[carries:])]
        made = _call(declared.bodies[0], given, kinds)
        return [
            *made[:carries],
            *(
                _put(part, whole, place)
                for part, whole in zip(made[carries:], carried[carries:], strict=True)
            ),
        ]

    return _loop(along[0], 0, begin, body)


def associative(declared: Declared) -> Sequence[ir.Value]:
    """Returns a loop that combines what is there so far with each of the elements, from the second
    on.
    """
    _, goes = declared.counts
    along, stays = declared.arguments[:goes], declared.arguments[goes:]
    first = [_part(each, index_constant(0)) for each in along]
    whole = [
        _put(part, _room(declared, place), index_constant(0)) for place, part in enumerate(first)
    ]

    def body(place: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        parts = [_part(each, place) for each in along]
        made = _call(
            declared.bodies[0], [*carried[:goes], *parts, *stays], [each.type for each in parts]
        )
        return [
            *made,
            *(_put(part, all_, place) for part, all_ in zip(made, carried[goes:], strict=True)),
        ]

    return _loop(along[0], 1, [*first, *whole], body)[goes:]


def _loop(
    along: ir.Value,
    first: int,
    begin: Sequence[ir.Value],
    body: Callable[[ir.Value, Sequence[ir.Value]], list[ir.Value]],
) -> list[ir.Value]:
    """Returns a loop over the first dim of a tensor from a place on, which carries tensors."""
    loop = scf.ForOp(index_constant(first), dim_of(along, 0), index_constant(1), [*begin])
    with ir.InsertionPoint(loop.body):
        scf.YieldOp(body(loop.induction_variable, list(loop.inner_iter_args)))
    return list(loop.results)


def _call(name: str, operands: Sequence[ir.Value], results: Sequence[ir.Type]) -> list[ir.Value]:
    made = ir.Operation.create(
        "func.call",
        results=[*results],
        operands=[*operands],
        attributes={"callee": ir.FlatSymbolRefAttr.get(name)},
    )
    return list(made.results)


def _room(declared: Declared, place: int) -> ir.Value:
    """Returns a tensor without values for what all iterations give."""
    kind = ir.RankedTensorType(declared.results[place])
    carries, _ = declared.counts
    alike = declared.sizes(place)
    sizes: list[ir.Value] = []
    for axis, size in enumerate(kind.shape):
        if size != DYNAMIC:
            continue
        number, other = (carries, 0) if axis == 0 else alike[2 * axis : 2 * axis + 2]
        if number < 0:
            position = file_position(declared.function.location)
            raise UnsupportedError(
                f"size {axis} of what an iteration gives is no size of what the loop is given",
                position=position and Position(*position),
                stage="import",
                hint="pad it to a size that is known",
            )
        sizes.append(dim_of(declared.arguments[number], other))
    return ir.Operation.create("tensor.empty", [kind], sizes).results[0]


def _kind_of_part(kind: ir.Type) -> ir.Type:
    whole = ir.RankedTensorType(kind)
    return ir.RankedTensorType.get(list(whole.shape)[1:], whole.element_type)


def _part(whole: ir.Value, place: ir.Value) -> ir.Value:
    """Returns what a tensor has at a place of its first dim."""
    operands, attributes = _place(whole, place, 1)
    kind = _kind_of_part(whole.type)
    return ir.Operation.create("tensor.extract_slice", [kind], operands, attributes).results[0]


def _put(part: ir.Value, whole: ir.Value, place: ir.Value) -> ir.Value:
    operands, attributes = _place(whole, place, 2)
    return ir.Operation.create(
        "tensor.insert_slice", [whole.type], [part, *operands], attributes
    ).results[0]


def _place(
    whole: ir.Value, place: ir.Value, tensors: int
) -> tuple[list[ir.Value], dict[str, ir.Attribute]]:
    """Returns the operands and attributes that say which part of a tensor is meant; the tensor is
    one.
    """
    shape = list(ir.RankedTensorType(whole.type).shape)
    dims = [dim_of(whole, axis) for axis, size in enumerate(shape) if axis and size == DYNAMIC]
    attributes: dict[str, ir.Attribute] = {
        "static_offsets": ir.DenseI64ArrayAttr.get([DYNAMIC, *[0] * (len(shape) - 1)]),
        "static_sizes": ir.DenseI64ArrayAttr.get([1, *shape[1:]]),
        "static_strides": ir.DenseI64ArrayAttr.get([1] * len(shape)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([*[1] * tensors, 1, len(dims), 0]),
    }
    return [whole, place, *dims], attributes

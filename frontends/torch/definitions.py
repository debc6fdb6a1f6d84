"""Defines the functions that the importer of graphs declared, and inlines them.

Once torch-mlir has lowered all that calls them, everything goes to where it is called from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ...dialects.mlir import arith, cf, ir
from ...pipelines.rewriting import constant
from ...pipelines.tensors import cast_to, dim_of, reassociation_attribute
from ...pipelines.walking import operations_where
from .batch_norm import emit_batch_norm
from .control_flow import associative, cond, loop_while, scan
from .declared import DYNAMIC, Declared, is_declared
from .depthwise import Depthwise, emit_depthwise
from .integers import emit_of_integers
from .philox import emit_advance, emit_count, emit_drawing, emit_each_element, room_like
from .running import emit_running
from .sizes import emit_of_sizes


def keep_bodies(module: ir.Operation) -> None:
    """Keeps the bodies, which nothing calls yet, from being dropped."""
    for function in _functions(module).values():
        if not is_declared(function) and "sym_visibility" in function.attributes:
            del function.attributes["sym_visibility"]


def define_functions(module: ir.Operation, name: str) -> None:
    """Defines and inlines what the function of this name calls; it alone is left."""
    functions = _functions(module)
    for function in functions.values():
        if is_declared(function):
            _define(function)
    main = functions.pop(name)
    while calls := operations_where(main, lambda op: op.name == "func.call"):
        for call in calls:
            _inline(call, functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value])
    for function in functions.values():
        function.erase()


def _functions(module: ir.Operation) -> dict[str, ir.Operation]:
    return {
        ir.StringAttr(op.attributes["sym_name"]).value: op.operation
        for op in module.regions[0].blocks[0]
        if op.operation.name == "func.func"
    }


def _inline(call: ir.Operation, function: ir.Operation) -> None:
    """Puts a copy of the function's operations in the place of the call."""
    copy = function.clone(ir.InsertionPoint(function))
    block = copy.regions[0].blocks[0]
    for argument, value in zip(block.arguments, call.operands, strict=True):
        with ir.InsertionPoint(call), call.location:
            argument.replace_all_uses_with(cast_to(value, argument.type))
    *body, end = [op.operation for op in block]
    for op in body:
        op.move_before(call)
    for result, value in zip(call.results, end.operands, strict=True):
        with ir.InsertionPoint(call), call.location:
            result.replace_all_uses_with(cast_to(value, result.type))
    call.erase()
    copy.erase()


def _define(function: ir.Operation) -> None:
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    body = function.regions[0].blocks.append(
        *kind.inputs, arg_locs=[function.location] * len(kind.inputs)
    )
    declared = Declared(function, list(body.arguments), list(kind.results))
    with function.location, ir.InsertionPoint(body):
        made = _DEFINITIONS[declared.kind](declared)
        ir.Operation.create("func.return", operands=[*made])


def _split(declared: Declared) -> Sequence[ir.Value]:
    """Makes two dims of one, of which the first has the size that is given."""
    x, size = declared.arguments
    axis, _ = declared.counts
    (kind,) = declared.results
    shape = list(ir.RankedTensorType(kind).shape)
    first = arith.index_cast(ir.IndexType.get(), size)
    whole = dim_of(x, axis)
    second = arith.divui(whole, first)
    fits = arith.cmpi(arith.CmpIPredicate.eq, arith.muli(first, second), whole)
    cf.AssertOp(fits, "a size is not divided by that of the dim that is split off from it")
    groups = [[each] for each in range(axis)] + [[axis, axis + 1]]
    groups += [[each] for each in range(axis + 2, len(shape))]
    sizes = {axis: first, axis + 1: second}
    open_ = [each for each, extent in enumerate(shape) if extent == DYNAMIC]
    if not {axis, axis + 1} & {*open_}:
        # What is known of both, as how often a loop of the model's runs, is known of the whole.
        whole_kind = list(ir.RankedTensorType(x.type).shape)
        whole_kind[axis] = shape[axis] * shape[axis + 1]
        x = cast_to(x, ir.RankedTensorType.get(whole_kind, ir.RankedTensorType(kind).element_type))
    made = ir.Operation.create(
        "tensor.expand_shape",
        [kind],
        [
            x,
            *(sizes[each] if each in sizes else dim_of(x, each - (each > axis)) for each in open_),
        ],
        {
            "reassociation": reassociation_attribute(groups),
            "static_output_shape": ir.DenseI64ArrayAttr.get(shape),
        },
    )
    return [made.results[0]]


def _depthwise(declared: Declared) -> Sequence[ir.Value]:
    return [
        emit_depthwise(
            Depthwise.of(declared.value),
            declared.arguments,
            ir.RankedTensorType(declared.results[0]),
        )
    ]


def _batch_norm(declared: Declared) -> Sequence[ir.Value]:
    eps, has_weight = ir.ArrayAttr(declared.value)
    return [
        emit_batch_norm(
            declared.arguments,
            ir.RankedTensorType(declared.results[0]),
            has_weight=ir.BoolAttr(has_weight).value,
            eps=ir.FloatAttr(eps).value,
        )
    ]


def _filled(declared: Declared) -> Sequence[ir.Value]:
    kind = ir.RankedTensorType(declared.results[0])
    given = declared.value
    element = kind.element_type
    open_ = [axis for axis, size in enumerate(kind.shape) if size == DYNAMIC]
    sizes = (
        [dim_of(declared.arguments[0], axis) for axis in open_]
        if declared.arguments and isinstance(declared.arguments[0].type, ir.RankedTensorType)
        else [arith.index_cast(ir.IndexType.get(), each) for each in declared.arguments]
    )
    room = ir.Operation.create("tensor.empty", [kind], sizes).results[0]
    if isinstance(element, ir.ComplexType):
        numbers = [ir.FloatAttr(each).value for each in ir.ArrayAttr(given)]
        return [emit_each_element([], room, lambda _: _complex(element, numbers))]
    is_float = isinstance(element, ir.FloatType)
    number = ir.FloatAttr(given).value if is_float else ir.IntegerAttr(given).value
    value = constant(element, number)
    filled = ir.Operation.create(
        "linalg.fill",
        [kind],
        [value, room],
        {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1])},
        regions=1,
    )
    body = filled.regions[0].blocks.append(
        element, element, arg_locs=[declared.function.location] * 2
    )
    with ir.InsertionPoint(body):
        ir.Operation.create("linalg.yield", operands=[body.arguments[0]])
    return [filled.results[0]]


def _complex(kind: ir.ComplexType, numbers: Sequence[float]) -> ir.Value:
    parts = [constant(kind.element_type, each) for each in numbers]
    return ir.Operation.create("complex.create", [kind], parts).results[0]


def _converted(
    conversion: Callable[[ir.Type, ir.Value], ir.Value], declared: Declared
) -> Sequence[ir.Value]:
    (x,), (kind,) = declared.arguments, map(ir.RankedTensorType, declared.results)
    if x.type == kind:
        return [x]
    room = room_like(x, kind)
    return [emit_each_element([x], room, lambda given: conversion(kind.element_type, given[0]))]


def _integers(declared: Declared) -> Sequence[ir.Value]:
    room = room_like(declared.arguments[0], declared.results[0])
    return [
        emit_each_element(
            declared.arguments, room, lambda given: emit_of_integers(declared.word, *given)
        )
    ]


def _running(declared: Declared) -> Sequence[ir.Value]:
    axis, _ = declared.counts
    return [
        emit_each_element(
            declared.arguments,
            room_like(declared.arguments[0], declared.results[0]),
            lambda given: emit_running(declared.word, axis, given[0]),
            along=axis,
        )
    ]


def _drawing(declared: Declared) -> Sequence[ir.Value]:
    generator, offset, *sizes = declared.arguments
    shape = list(ir.RankedTensorType(declared.results[0]).shape)
    return [emit_drawing(generator, offset, declared.word, shape, sizes)]


def _moved(declared: Declared) -> Sequence[ir.Value]:
    offset, *sizes = declared.arguments
    return [arith.addi(offset, emit_count(sizes, declared.word))]


def _of_sizes(declared: Declared) -> Sequence[ir.Value]:
    return [emit_of_sizes(declared.word, *declared.arguments)]


def _advance(declared: Declared) -> Sequence[ir.Value]:
    return [emit_advance(*declared.arguments)]


_DEFINITIONS: dict[str, Callable[[Declared], Sequence[ir.Value]]] = {
    "bits": partial(_converted, arith.bitcast),
    "extend": partial(_converted, arith.extui),
    "integers": _integers,
    "running": _running,
    "drawing": _drawing,
    "moved": _moved,
    "of_sizes": _of_sizes,
    "advance": _advance,
    "fill": _filled,
    "split": _split,
    "depthwise": _depthwise,
    "batch_norm": _batch_norm,
    "cond": cond,
    "while": loop_while,
    "scan": scan,
    "associative": associative,
}

"""torch.cond and its like as branches and loops of the host.

Each is imported as the call of a function that is only declared, beside the functions of its
bodies. Once torch-mlir has lowered all of them the declared ones are defined, and everything goes
to where it is called from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import SymInt, Tensor
from torch.fx import Node
from torch_mlir.extras.fx_importer import GraphNodeImporter

from ...compiler.errors import HircError, Position, UnsupportedError
from ...dialects.mlir import arith, cf, ir, scf
from ...pipelines.locations import file_position
from ...pipelines.rewriting import constant, index_constant
from ...pipelines.walking import operations_where
from .depthwise import Depthwise, emit_depthwise, read_depthwise
from .generators import ADVANCE, DRAWING, MOVED
from .integers import OF_INTEGERS, emit_of_integers
from .philox import emit_advance, emit_count, emit_drawing, emit_each_element
from .running import RUNNING, emit_running
from .sizes import OF_SIZES, emit_of_sizes
from .unsigned import EXTEND
from .user_errors import importing_error, stack_position

_KIND = "control.kind"
_BODIES = "control.bodies"
# How many operands are carried, and how many gone through.
_COUNTS = "control.counts"
# Of each result the operand and axis that each open dim is as long as, flattened; -1: the loop's.
_SIZES = "control.sizes"
# What a tensor is filled with, or which numbers are drawn.
_VALUE = "control.value"
_FILLED = (
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.bool),
    *(torch.complex64, torch.complex128),
)
_ATEN = torch.ops.aten
_DYNAMIC = ir.ShapedType.get_dynamic_size()


class ControlFlowImporter(GraphNodeImporter):
    """Imports the nodes of a graph; those of control flow as calls of functions to be defined."""

    def import_nodes(self, nodes: Iterable[Node], **options: Any) -> None:
        """Imports nodes. Raises UnsupportedError with the line of a node that it cannot import."""
        passed: list[Node] = []

        def noted() -> Iterator[Node]:
            for node in nodes:
                passed[:] = [node]
                yield node

        try:
            super().import_nodes(noted(), **options)
        except (HircError, ir.MLIRError):
            raise
        except Exception as error:
            if not passed:
                raise
            raise importing_error(error, passed[0]) from error

    def _import_hop_cond(self, loc: ir.Location, node: Node, hop: Any) -> None:
        condition, then, other, operands = node.args
        self._call(loc, node, "cond", [then, other], [condition, *_nodes(operands)], (0, 0))

    def _import_hop_while_loop(self, loc: ir.Location, node: Node, hop: Any) -> None:
        goes_on, body, carried, stays = node.args
        operands = [*_nodes(carried), *_nodes(stays)]
        self._call(loc, node, "while", [goes_on, body], operands, (len(_nodes(carried)), 0))

    def _import_hop_scan(self, loc: ir.Location, node: Node, hop: Any) -> None:
        body, carried, along, stays = node.args
        counts = len(_nodes(carried)), len(_nodes(along))
        operands = [*_nodes(carried), *_nodes(along), *_nodes(stays)]
        self._call(loc, node, "scan", [body], operands, counts)

    def _import_hop_map_impl(self, loc: ir.Location, node: Node, hop: Any) -> None:
        body, along, stays = node.args
        operands = [*_nodes(along), *_nodes(stays)]
        self._call(loc, node, "scan", [body], operands, (0, len(_nodes(along))))

    def _import_hop_associative_scan(self, loc: ir.Location, node: Node, hop: Any) -> None:
        body, along, stays = node.args
        operands = [*_nodes(along), *_nodes(stays)]
        self._call(loc, node, "associative", [body], operands, (0, len(_nodes(along))))

    def import_constant(self, loc: ir.Location, node: Node, constant: Any) -> Any:
        is_filled = isinstance(constant, Tensor) and constant.numel() and not constant.is_complex()
        if is_filled and constant.dtype in _FILLED:
            first = constant.reshape(-1)[0]
            # 0 and -0 are equal, and not the same.
            is_same = (constant == first) & (constant.signbit() == first.signbit())
            with ir.InsertionPoint(self._b):
                if bool(is_same.all()) and self._fill(loc, node, first.item(), []):
                    return self.resolve_node_value(node)
        return super().import_constant(loc, node, constant)

    def _import_torch_op_overload(
        self, loc: ir.Location, node: Node, concrete_target: Any = None
    ) -> None:
        """torch-mlir's split of an open dim is not valid where both parts are open.

        Some depthwise convolutions it does not lower.
        What it computes of a tensor that is filled with a number is wrong, or a crash, where an
        operation's other number has another type.
        """
        given: Any = node.args
        if concrete_target is None and node.target is torch.ops.prims.split_dim.default:
            x, axis, size = given
            if isinstance(x.meta["val"].shape[axis], SymInt):
                self._call(loc, node, "split", [], [x, size], (axis, 0))
                return
        if node.target is _ATEN.full_like.default:
            is_open = any(isinstance(size, SymInt) for size in node.meta["val"].shape)
            if self._fill(loc, node, given[1], [given[0]] if is_open else []):
                return
        if node.target is _ATEN.convolution.default:
            depthwise = read_depthwise(node)
            if depthwise is not None:
                with loc:
                    attribute = depthwise.attribute()
                operands = [each for each in given[:3] if each is not None]
                self._call(loc, node, "depthwise", [], operands, (0, 0), attribute)
                return
        if node.target is _ATEN.full.default:
            sizes = [each for each in given[0] if isinstance(each, Node)]
            if self._fill(loc, node, given[1], sizes):
                return
        if node.target is _ATEN.view.dtype and _is_view_of_bits(node):
            self._call(loc, node, "bits", [], [given[0]], (0, 0))
            return
        if node.target is EXTEND:
            self._call(loc, node, "extend", [], [given[0]], (0, 0))
            return
        if node.target is DRAWING:
            generator, offset, sizes, kind = given
            open_ = [each for each in sizes if isinstance(each, Node)]
            about = ir.StringAttr.get(kind, context=loc.context)
            self._call(loc, node, "drawing", [], [generator, offset, *open_], (0, 0), about)
            return
        if node.target is OF_INTEGERS:
            about = ir.StringAttr.get(given[2], context=loc.context)
            self._call(loc, node, "integers", [], given[:2], (0, 0), about)
            return
        if node.target is RUNNING:
            about = ir.StringAttr.get(given[2], context=loc.context)
            self._call(loc, node, "running", [], given[:1], (given[1], 0), about)
            return
        if node.target is ADVANCE:
            self._call(loc, node, "advance", [], given, (0, 0))
            return
        if node.target is MOVED:
            offset, sizes, kind = given
            about = ir.StringAttr.get(kind, context=loc.context)
            self._call(loc, node, "moved", [], [offset, *sizes], (0, 0), about)
            return
        if node.target is OF_SIZES:
            about = ir.StringAttr.get(given[2], context=loc.context)
            self._call(loc, node, "of_sizes", [], given[:2], (0, 0), about)
            return
        super()._import_torch_op_overload(loc, node, concrete_target)

    def _fill(self, loc: ir.Location, node: Node, value: Any, sizes: Sequence[Any]) -> bool:
        """Imports a tensor filled with a number: the sizes are open ones, or a tensor's."""
        kind = node.meta["val"].dtype
        if not isinstance(value, (bool, int, float, complex)) or kind not in _FILLED:
            return False
        # What the element type makes of it.
        number = torch.full((), value, dtype=kind).item()
        with loc:
            f64 = ir.F64Type.get()
            if kind.is_complex:
                parts = (complex(number).real, complex(number).imag)
                attribute = ir.ArrayAttr.get([ir.FloatAttr.get(f64, each) for each in parts])
            elif kind.is_floating_point:
                attribute = ir.FloatAttr.get(f64, number)
            else:
                attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(number))
        self._call(loc, node, "fill", [], sizes, (0, 0), attribute)
        return True

    def _call(
        self,
        loc: ir.Location,
        node: Node,
        kind: str,
        bodies: Sequence[Any],
        operands: Sequence[Any],
        counts: tuple[int, int],
        value: ir.Attribute | None = None,
    ) -> None:
        given = [self._import_argument(loc, each) for each in operands]
        is_number = node.target in (MOVED, OF_SIZES)
        values = () if is_number else node.meta["val"]
        is_one = isinstance(values, Tensor)
        values = [values] if is_one else values
        if not isinstance(values, (tuple, list)) or not all(
            isinstance(each, Tensor) for each in values
        ):
            raise _unsupported(node, "it gives what is no tensor", "carry tensors, of no dims too")
        types = [self._cc.value_info_to_type(each) for each in values]
        if is_number:
            types = [ir.Type.parse("!torch.int", loc.context)]
        name = f"{node.name}.{len(list(self.fx_importer.module.body))}"
        names = [self._body(node, each) for each in bodies]
        sizes = [_sizes(node, each, operands) for each in values]
        with loc:
            function = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get(name),
                    "sym_visibility": ir.StringAttr.get("private"),
                    "function_type": ir.TypeAttr.get(
                        ir.FunctionType.get([each.type for each in given], types)
                    ),
                    _KIND: ir.StringAttr.get(kind),
                    _BODIES: ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(each) for each in names]),
                    _COUNTS: ir.DenseI64ArrayAttr.get([*counts]),
                    _SIZES: ir.ArrayAttr.get([ir.DenseI64ArrayAttr.get(each) for each in sizes]),
                },
                regions=1,
                ip=ir.InsertionPoint(self.fx_importer.module.body),
            )
            if value is not None:
                function.attributes[_VALUE] = value
            call = ir.Operation.create(
                "func.call",
                results=types,
                operands=given,
                attributes={"callee": ir.FlatSymbolRefAttr.get(name)},
            )
        if not is_one and not is_number:
            self._multi_result_nodes.add(node)
        for place, result in enumerate(call.results):
            self.bind_node_value(node, result, place)

    def _body(self, node: Node, body: Node) -> str:
        """Returns the name of the function that a body has become."""
        names = self.fx_importer._graph_module_to_func_name  # pyright: ignore[reportPrivateUsage]
        return names[id(getattr(node.graph.owning_module, str(body.target)))]


def _is_view_of_bits(node: Node) -> bool:
    """Returns whether elements of one type are taken for those of another that is as wide."""
    x: Any = node.args[0]
    kinds = x.meta["val"].dtype, node.meta["val"].dtype
    widths = {kind.itemsize for kind in kinds}
    return len(widths) == 1 and not any(kind.is_complex or kind is torch.bool for kind in kinds)


def _nodes(values: Any) -> list[Any]:
    return list(values)


def _sizes(node: Node, value: Tensor, operands: Sequence[Any]) -> list[int]:
    """For each dim of a result the number of an operand, and the axis of that which is as long.

    -1 and -1 where the dim is not open, or no operand has one that is known to be as long.
    """
    places = {
        size.node.expr: (number, axis)
        for number, operand in reversed(list(enumerate(operands)))
        if isinstance(operand, Node) and isinstance(operand.meta.get("val"), Tensor)
        for axis, size in enumerate(operand.meta["val"].shape)
        if isinstance(size, SymInt)
    }
    found: list[int] = []
    for size in value.shape:
        found += places.get(size.node.expr, (-1, -1)) if isinstance(size, SymInt) else (-1, -1)
    return found


def _unsupported(node: Node, message: str, hint: str) -> UnsupportedError:
    return UnsupportedError(
        message,
        position=stack_position(node.meta.get("stack_trace") or ""),
        op=str(node.target),
        stage="import",
        hint=hint,
    )


def begin_control_flow(module: ir.Operation) -> None:
    """Keeps the bodies, which nothing calls yet, from being dropped."""
    for function in _functions(module).values():
        if _KIND not in function.attributes and "sym_visibility" in function.attributes:
            del function.attributes["sym_visibility"]


def end_control_flow(module: ir.Operation, name: str) -> None:
    """Makes branches and loops of the calls, in the function of this name, which alone is left."""
    functions = _functions(module)
    for function in functions.values():
        if _KIND in function.attributes:
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
            argument.replace_all_uses_with(_cast(value, argument.type))
    *body, end = [op.operation for op in block]
    for op in body:
        op.move_before(call)
    for result, value in zip(call.results, end.operands, strict=True):
        with ir.InsertionPoint(call), call.location:
            result.replace_all_uses_with(_cast(value, result.type))
    call.erase()
    copy.erase()


def _cast(value: ir.Value, kind: ir.Type) -> ir.Value:
    if value.type == kind:
        return value
    return ir.Operation.create("tensor.cast", [kind], [value]).results[0]


def _define(function: ir.Operation) -> None:
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    names = [
        ir.FlatSymbolRefAttr(each).value for each in ir.ArrayAttr(function.attributes[_BODIES])
    ]
    body = function.regions[0].blocks.append(
        *kind.inputs, arg_locs=[function.location] * len(kind.inputs)
    )
    with function.location, ir.InsertionPoint(body):
        made = _DEFINITIONS[ir.StringAttr(function.attributes[_KIND]).value](
            function, names, list(body.arguments), list(kind.results)
        )
        ir.Operation.create("func.return", operands=[*made])


def _cond(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    condition, *operands = arguments
    branches = ir.Operation.create("scf.if", [*results], [_truth(condition)], regions=2)
    for region, name in zip(branches.regions, names, strict=True):
        with ir.InsertionPoint(region.blocks.append()):
            scf.YieldOp(_call(name, operands, results))
    return list(branches.results)


def _truth(condition: ir.Value) -> ir.Value:
    if isinstance(condition.type, ir.IntegerType):
        return condition
    kind = ir.RankedTensorType(condition.type)
    places = [index_constant(0)] * len(kind.shape)
    return ir.Operation.create("tensor.extract", [kind.element_type], [condition, *places]).results[
        0
    ]


def _while(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    """Returns a loop that goes on as long as what it carries says so."""
    carries, _ = _counts(function)
    begin = [_cast(value, kind) for value, kind in zip(arguments, results, strict=False)]
    stays = arguments[carries:]
    loop = scf.WhileOp([*results], begin)
    before = loop.before.blocks.append(*results, arg_locs=[function.location] * carries)
    with ir.InsertionPoint(before):
        carried = list(before.arguments)
        truth = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
        (goes_on,) = _call(names[0], [*carried, *stays], [truth])
        scf.ConditionOp(_truth(goes_on), carried)
    after = loop.after.blocks.append(*results, arg_locs=[function.location] * carries)
    with ir.InsertionPoint(after):
        scf.YieldOp(_call(names[1], [*after.arguments, *stays], results))
    return list(loop.results)


def _scan(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    """Returns a loop along the first dim of what is gone through."""
    carries, goes = _counts(function)
    along, stays = arguments[carries : carries + goes], arguments[carries + goes :]
    begin = [
        _cast(value, kind)
        for value, kind in zip(arguments[:carries], results[:carries], strict=True)
    ]
    begin += [_room(function, arguments, results, place) for place in range(carries, len(results))]

    def body(place: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        given = [*carried[:carries], *(_part(each, place) for each in along), *stays]
        kinds = [*results[:carries], *map(_kind_of_part, results[carries:])]
        made = _call(names[0], given, kinds)
        return [
            *made[:carries],
            *(
                _put(part, whole, place)
                for part, whole in zip(made[carries:], carried[carries:], strict=True)
            ),
        ]

    return _loop(along[0], 0, begin, body)


def _associative(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    """Returns a loop that combines what is there so far with each of the elements, from the second
    on.
    """
    _, goes = _counts(function)
    along, stays = arguments[:goes], arguments[goes:]
    first = [_part(each, index_constant(0)) for each in along]
    whole = [
        _put(part, _room(function, arguments, results, place), index_constant(0))
        for place, part in enumerate(first)
    ]

    def body(place: ir.Value, carried: Sequence[ir.Value]) -> list[ir.Value]:
        parts = [_part(each, place) for each in along]
        made = _call(names[0], [*carried[:goes], *parts, *stays], [each.type for each in parts])
        return [
            *made,
            *(_put(part, all_, place) for part, all_ in zip(made, carried[goes:], strict=True)),
        ]

    return _loop(along[0], 1, [*first, *whole], body)[goes:]


def _split(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    """Makes two dims of one, of which the first has the size that is given."""
    x, size = arguments
    axis, _ = _counts(function)
    (kind,) = results
    shape = list(ir.RankedTensorType(kind).shape)
    first = arith.index_cast(ir.IndexType.get(), size)
    whole = _dim(x, axis)
    second = arith.divui(whole, first)
    fits = arith.cmpi(arith.CmpIPredicate.eq, arith.muli(first, second), whole)
    cf.AssertOp(fits, "a size is not divided by that of the dim that is split off from it")
    groups = [[each] for each in range(axis)] + [[axis, axis + 1]]
    groups += [[each] for each in range(axis + 2, len(shape))]
    sizes = {axis: first, axis + 1: second}
    open_ = [each for each, extent in enumerate(shape) if extent == _DYNAMIC]
    i64 = ir.IntegerType.get_signless(64)
    made = ir.Operation.create(
        "tensor.expand_shape",
        [kind],
        [
            x,
            *(sizes[each] if each in sizes else _dim(x, each - (each > axis)) for each in open_),
        ],
        {
            "reassociation": ir.ArrayAttr.get(
                [ir.ArrayAttr.get([ir.IntegerAttr.get(i64, each) for each in g]) for g in groups]
            ),
            "static_output_shape": ir.DenseI64ArrayAttr.get(shape),
        },
    )
    return [made.results[0]]


def _depthwise(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    made = Depthwise.of(function.attributes[_VALUE])
    return [emit_depthwise(made, arguments, ir.RankedTensorType(results[0]))]


def _filled(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    kind = ir.RankedTensorType(results[0])
    given = function.attributes[_VALUE]
    element = kind.element_type
    open_ = [axis for axis, size in enumerate(kind.shape) if size == _DYNAMIC]
    sizes = (
        [_dim(arguments[0], axis) for axis in open_]
        if arguments and isinstance(arguments[0].type, ir.RankedTensorType)
        else [arith.index_cast(ir.IndexType.get(), each) for each in arguments]
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
    body = filled.regions[0].blocks.append(element, element, arg_locs=[function.location] * 2)
    with ir.InsertionPoint(body):
        ir.Operation.create("linalg.yield", operands=[body.arguments[0]])
    return [filled.results[0]]


def _complex(kind: ir.ComplexType, numbers: Sequence[float]) -> ir.Value:
    parts = [constant(kind.element_type, each) for each in numbers]
    return ir.Operation.create("complex.create", [kind], parts).results[0]


def _converted(
    conversion: Callable[[ir.Type, ir.Value], ir.Value],
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    (x,), (kind,) = arguments, map(ir.RankedTensorType, results)
    if x.type == kind:
        return [x]
    room = _room_like(x, kind)
    return [emit_each_element([x], room, lambda given: conversion(kind.element_type, given[0]))]


def _integers(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    name = ir.StringAttr(function.attributes[_VALUE]).value
    room = _room_like(arguments[0], results[0])
    return [emit_each_element(arguments, room, lambda given: emit_of_integers(name, *given))]


def _running(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    kind = ir.StringAttr(function.attributes[_VALUE]).value
    axis, _ = _counts(function)
    return [
        emit_each_element(
            arguments,
            _room_like(arguments[0], results[0]),
            lambda given: emit_running(kind, axis, given[0]),
            along=axis,
        )
    ]


def _room_like(x: ir.Value, result: ir.Type) -> ir.Value:
    """Returns an empty tensor of a type, with the open sizes of another tensor."""
    kind = ir.RankedTensorType(result)
    open_ = [_dim(x, axis) for axis, size in enumerate(kind.shape) if size == _DYNAMIC]
    return ir.Operation.create("tensor.empty", [kind], open_).results[0]


def _drawing(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    generator, offset, *sizes = arguments
    shape = list(ir.RankedTensorType(results[0]).shape)
    kind = ir.StringAttr(function.attributes[_VALUE]).value
    return [emit_drawing(generator, offset, kind, shape, sizes)]


def _moved(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    offset, *sizes = arguments
    kind = ir.StringAttr(function.attributes[_VALUE]).value
    return [arith.addi(offset, emit_count(sizes, kind))]


def _of_sizes(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    kind = ir.StringAttr(function.attributes[_VALUE]).value
    return [emit_of_sizes(kind, *arguments)]


def _advance(
    function: ir.Operation,
    names: Sequence[str],
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
) -> Sequence[ir.Value]:
    generator, offset = arguments
    return [emit_advance(generator, offset)]


_DEFINITIONS = {
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
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "associative": _associative,
}


def _counts(function: ir.Operation) -> tuple[int, int]:
    carried, along = ir.DenseI64ArrayAttr(function.attributes[_COUNTS])
    return carried, along


def _loop(
    along: ir.Value,
    first: int,
    begin: Sequence[ir.Value],
    body: Callable[[ir.Value, Sequence[ir.Value]], list[ir.Value]],
) -> list[ir.Value]:
    """Returns a loop over the first dim of a tensor from a place on, which carries tensors."""
    loop = scf.ForOp(index_constant(first), _dim(along, 0), index_constant(1), [*begin])
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


def _room(
    function: ir.Operation,
    arguments: Sequence[ir.Value],
    results: Sequence[ir.Type],
    place: int,
) -> ir.Value:
    """Returns a tensor without values for what all iterations give."""
    kind = ir.RankedTensorType(results[place])
    carries, _ = _counts(function)
    alike = list(ir.DenseI64ArrayAttr(ir.ArrayAttr(function.attributes[_SIZES])[place]))
    sizes: list[ir.Value] = []
    for axis, size in enumerate(kind.shape):
        if size != _DYNAMIC:
            continue
        number, other = (carries, 0) if axis == 0 else alike[2 * axis : 2 * axis + 2]
        if number < 0:
            position = file_position(function.location)
            raise UnsupportedError(
                f"size {axis} of what an iteration gives is no size of what the loop is given",
                position=position and Position(*position),
                stage="import",
                hint="pad it to a size that is known",
            )
        sizes.append(_dim(arguments[number], other))
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
    dims = [_dim(whole, axis) for axis, size in enumerate(shape) if axis and size == _DYNAMIC]
    attributes: dict[str, ir.Attribute] = {
        "static_offsets": ir.DenseI64ArrayAttr.get([_DYNAMIC, *[0] * (len(shape) - 1)]),
        "static_sizes": ir.DenseI64ArrayAttr.get([1, *shape[1:]]),
        "static_strides": ir.DenseI64ArrayAttr.get([1] * len(shape)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([*[1] * tensors, 1, len(dims), 0]),
    }
    return [whole, place, *dims], attributes


def _dim(value: ir.Value, axis: int) -> ir.Value:
    operands = [value, index_constant(axis)]
    return ir.Operation.create("tensor.dim", [ir.IndexType.get()], operands).results[0]

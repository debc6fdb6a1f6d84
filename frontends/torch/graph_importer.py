"""The nodes of a graph as torch-mlir's operations, or as calls of declared functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import SymInt, Tensor
from torch.fx import Node
from torch_mlir.extras.fx_importer import GraphNodeImporter

from ...compiler.errors import HircError, UnsupportedError
from ...dialects.mlir import ir
from .batch_norm import BATCH_NORM
from .declared import declare
from .depthwise import read_depthwise
from .generators import ADVANCE, DRAWING, MOVED
from .integers import OF_INTEGERS
from .running import RUNNING
from .sizes import OF_SIZES
from .unsigned import EXTEND
from .user_errors import importing_error, stack_position

_FILLED = (
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.bool),
    *(torch.complex64, torch.complex128),
)
# Floats of which torch-mlir has constants.
_LITERAL = (torch.float64, torch.float32, torch.float16)
_ATEN = torch.ops.aten


def _complex_literal(constant: Tensor, kind: ir.Type) -> ir.Value:
    """Emits a constant of complex numbers with its elements: torch-mlir's are behind a name, which
    nothing that lowers them takes apart.
    """
    # Its memory cannot be asked for while torch traces.
    parts = torch.view_as_real(constant).tolist()
    size = "float64" if constant.dtype == torch.complex128 else "float32"
    data = np.array(parts, size).tobytes().hex()
    elements = f'"0x{data}"' if data else ""
    shape = "".join(f"{each}x" for each in constant.shape)
    value = ir.Attribute.parse(f"dense<{elements}> : tensor<{shape}complex<f{size[-2:]}>>")
    made = ir.Operation.create("torch.vtensor.literal", [kind], attributes={"value": value})
    return made.result


class GraphImporter(GraphNodeImporter):
    """Imports nodes of a graph.

    Those of control flow, and those that torch-mlir does not lower, become calls of functions that
    are declared.
    """

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
        is_real = isinstance(constant, Tensor) and not constant.is_complex()
        if is_real and constant.dtype in _FILLED:
            # What has no elements is filled with any, as an empty cache is.
            first = constant.reshape(-1)[0] if constant.numel() else constant.new_zeros(())
            # 0 and -0 are equal, and not the same.
            is_same = (constant == first) & (constant.signbit() == first.signbit())
            with ir.InsertionPoint(self._b):
                if bool(is_same.all()) and self._fill(loc, node, first.item(), []):
                    return self.resolve_node_value(node)
        if is_real and constant.is_floating_point() and constant.dtype not in _LITERAL:
            bits = constant.view(torch.int16 if constant.itemsize == 2 else torch.int8)
            # torch-mlir tells tensors apart by where they are: this one has to stay.
            node.meta["bits"] = bits
            with ir.InsertionPoint(self._b):
                self._call(loc, node, "bits", [], [bits], (0, 0))
            return self.resolve_node_value(node)
        if isinstance(constant, Tensor) and constant.is_complex():
            with loc, ir.InsertionPoint(self._b):
                literal = _complex_literal(constant, self._cc.tensor_to_vtensor_type(constant))
            self.bind_node_value(node, literal)
            return literal
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
        if node.target is BATCH_NORM:
            *tensors, eps = given
            with loc:
                about = ir.ArrayAttr.get(
                    [ir.FloatAttr.get(ir.F64Type.get(), eps), ir.BoolAttr.get(given[3] is not None)]
                )
            operands = [each for each in tensors if each is not None]
            self._call(loc, node, "batch_norm", [], operands, (0, 0), about)
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
            kinds = [each.type for each in given], types
            module = self.fx_importer.module.operation
            declare(module, name, kind, kinds, names, counts, sizes, value)
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

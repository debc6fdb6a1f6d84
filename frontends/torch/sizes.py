"""Open sizes of an exported program: by whose names, within which limits, and of which inputs."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch
from torch import SymBool, SymInt, Tensor
from torch.export import Dim, ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.utils._sympy.functions import FloorDiv, Max, Min, Mod

from ...compiler.errors import UnsupportedError
from ...compiler.loader_calling import NUMBER
from ...dialects.mlir import arith, ir, math
from ...pipelines.rewriting import constant
from .dynamic_shapes import DynamicShapes

_ATEN = torch.ops.aten
# Greater limits than any size has are none.
_NO_LIMIT = 1 << 62
_LIBRARY = torch.library.Library("hirc", "FRAGMENT")
_LIBRARY.define("of_sizes(SymInt x, SymInt y, str kind) -> SymInt")
OF_SIZES = torch.ops.hirc.of_sizes.default
# Python functions of whole numbers that torch-mlir lowers for known numbers only, or not at all.
_FUNCTIONS: dict[Any, str] = {
    torch.sym_max: "max",
    torch.sym_min: "min",
    operator.pow: "pow",
    operator.lshift: "shift_left",
    operator.rshift: "shift_right",
    operator.abs: "abs",
    abs: "abs",
}
# What torch-mlir lowers of the same of truths.
_OF_TRUTHS: dict[Any, Any] = {
    operator.and_: _ATEN.__and__.bool,
    operator.or_: _ATEN.__or__.bool,
}
# Functions that may make a formula constant.
_WITH_LIMITS = (Max, Min, FloorDiv, Mod, sympy.Max, sympy.Min)


class Sizes:
    """The open sizes of a program's inputs, and its inputs that are whole numbers.

    `names` maps an input's name and axis to the name of its size. `limits` maps a name to the least
    and the greatest value, None where there is no limit.
    """

    def __init__(self, program: ExportedProgram, dynamic_shapes: DynamicShapes | None) -> None:
        self.names: dict[str, dict[int, str]] = {}
        self.limits: dict[str, tuple[int | None, int | None]] = {}
        # Of a name that is a multiple of another and a number more: that, and both.
        self.derived: dict[str, tuple[str, int, int]] = {}
        # Where each is a size: the input's number among tensors, and the axis.
        self._places: dict[sympy.Expr, tuple[int, int]] = {}
        self._named: dict[sympy.Expr, str] = {}
        self._find(program, _asked_names(program, dynamic_shapes))
        for expression, name in self._named.items():
            self._derive(expression, name)
        for symbol, limits in program.range_constraints.items():
            name = self._named.get(symbol)
            if name is not None and name not in self.derived:
                is_number = self._places[symbol][1] == NUMBER
                self.limits[name] = (_least(limits.lower, is_number), _most(limits.upper))

    def _find(self, program: ExportedProgram, asked: Mapping[str, Mapping[int, str]]) -> None:
        nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
        number = 0
        for spec in program.graph_signature.input_specs:
            if spec.kind != InputKind.USER_INPUT or isinstance(spec.arg, ConstantArgument):
                continue
            value: Any = nodes[spec.arg.name].meta.get("val")
            if not isinstance(value, Tensor):
                expression = _expression(value)
                if expression is not None and expression not in self._named:
                    self._places[expression] = (number, NUMBER)
                    self._named[expression] = spec.arg.name
                number += 1
                continue
            for axis, size in enumerate(value.shape):
                expression = _expression(size)
                if expression is None:
                    continue
                self._places.setdefault(expression, (number, axis))
                wanted = asked.get(spec.arg.name, {}).get(axis)
                name = self._named.get(expression)
                if name is None:
                    name = wanted or f"{spec.arg.name}_{axis}"
                    self._named[expression] = name
                self.names.setdefault(spec.arg.name, {})[axis] = name
            number += 1

    def _derive(self, expression: sympy.Expr, name: str) -> None:
        symbols: list[Any] = list(expression.free_symbols)
        if isinstance(expression, sympy.Symbol) or len(symbols) != 1:
            return
        terms = sympy.Poly(expression, *symbols).all_coeffs()
        base = self._named.get(symbols[0])
        if base is not None and len(terms) == 2:
            self.derived[name] = (base, int(terms[0]), int(terms[1]))

    @property
    def places(self) -> dict[str, tuple[int, int]]:
        """Maps names to an input's number and an axis: NUMBER where it is the input itself."""
        return {self._named[expression]: place for expression, place in self._places.items()}

    @property
    def symbols(self) -> dict[sympy.Expr, str]:
        """The name of each size that is no formula of others."""
        return {each: name for each, name in self._named.items() if each.is_Symbol}

    def node_of(self, value: Node) -> dict[str, Any]:
        """Returns the leaf for an output that is a whole number. Raises UnsupportedError."""
        expression = _expression(value.meta.get("val"))
        place = None if expression is None else self._places.get(expression)
        if place is None:
            raise UnsupportedError(
                f"the model gives the number {expression}, which is no size of an input",
                stage="import",
                hint="return a tensor that holds it, or compute it where the model is called",
            )
        return {"size": list(place)}


def dims_of_inputs(program: ExportedProgram) -> dict[tuple[str, int], bool]:
    """Returns of each dim of an input, by its name and axis, whether its size is open."""
    found: dict[tuple[str, int], bool] = {}
    for node in program.graph.nodes:
        value = node.meta.get("val") if node.op == "placeholder" else None
        for axis, size in enumerate(value.shape if isinstance(value, Tensor) else ()):
            found[node.name, axis] = _expression(size) is not None
    return found


def sizes_for_strides(program: ExportedProgram) -> None:
    """Replaces reads of strides by reads of equal sizes.

    torch may write a tensor's size as the stride of an argument of a loop's body.
    """
    for module in program.graph_module.modules():
        if not isinstance(module, GraphModule):
            continue
        inputs = [node for node in module.graph.nodes if node.op == "placeholder"]
        for node in module.graph.nodes:
            if node.target is _ATEN.sym_stride.int:
                _as_size(node, inputs)
        module.recompile()


def functions_of_sizes(program: ExportedProgram) -> None:
    """Replaces Python functions of sizes that return whole numbers, and of truths, by operators."""
    for module in program.graph_module.modules():
        if not isinstance(module, GraphModule):
            continue
        for node in module.graph.nodes:
            if node.target in _OF_TRUTHS and isinstance(node.meta.get("val"), SymBool):
                node.target = _OF_TRUTHS[node.target]
            if node.target is torch.sym_not:
                with module.graph.inserting_before(node):
                    number = module.graph.call_function(_ATEN.Int.bool, node.args)
                number.meta["val"] = torch.sym_ite(node.args[0].meta["val"], 1, 0)
                node.target, node.args = operator.eq, (number, 0)
            kind = _FUNCTIONS.get(node.target) if node.op == "call_function" else None
            if kind is not None and isinstance(node.meta.get("val"), SymInt):
                node.target, node.args = OF_SIZES, (*(*node.args, 0)[:2], kind)
        module.recompile()


def emit_of_sizes(kind: str, x: ir.Value, y: ir.Value) -> ir.Value:
    """Emits a function of two whole numbers; functions of one ignore the second."""
    if kind == "abs":
        return arith.maxsi(x, arith.subi(constant(x.type, 0), x))
    operations = {
        "max": arith.maxsi,
        "min": arith.minsi,
        "pow": math.ipowi,
        "shift_left": arith.shli,
        "shift_right": arith.shrsi,
    }
    return operations[kind](x, y)


def _fixed(size: int | SymInt) -> int | SymInt:
    """Returns a size as a number where it is one."""
    return int(size) if isinstance(size, SymInt) and size.node.expr.is_number else size


def known_sizes(program: ExportedProgram) -> None:
    """Replaces a size that is a formula of open sizes, but constant, by the number; so that of an
    input that was to be open, but that the model is right for one number of alone.

    torch-mlir assumes that an open dim has the size of the dims that it is combined with, and not
    that it has size 1 and is broadcast.
    """
    known: dict[sympy.Expr, int | None] = {}

    def number(size: int | SymInt) -> int | SymInt:
        expression = _expression(size)
        if expression is None or not expression.has(*_WITH_LIMITS):
            return size
        if expression not in known:
            example: Any = size.node.hint if isinstance(size, SymInt) else None
            is_known = example is not None and statically_known_true(size == example)
            known[expression] = example if is_known else None
        found = known[expression]
        return size if found is None else found

    for module in program.graph_module.modules():
        if not isinstance(module, GraphModule):
            continue
        for node in module.graph.nodes:
            value = node.meta.get("val")
            if not isinstance(value, Tensor):
                continue
            is_input = node.op == "placeholder"
            sizes = [_fixed(size) if is_input else number(_fixed(size)) for size in value.shape]
            if any(
                isinstance(old, SymInt) and not isinstance(new, SymInt)
                for old, new in zip(value.shape, sizes, strict=True)
            ):
                node.meta["val"] = value.as_strided(sizes, value.stride())
                # torch-mlir would read the sizes from here.
                node.meta.pop("tensor_meta", None)


def _as_size(node: Node, inputs: Sequence[Node]) -> None:
    stride: Any = node.meta["val"]
    for given in inputs:
        value = given.meta.get("val")
        for axis, size in enumerate(value.shape if isinstance(value, Tensor) else ()):
            if statically_known_true(size == stride):
                node.target, node.args = _ATEN.sym_size.int, (given, axis)
                return


def _asked_names(
    program: ExportedProgram, dynamic_shapes: DynamicShapes | None
) -> dict[str, dict[int, str]]:
    """Returns the names that `Dim`s give to the axes of inputs."""
    given = program.call_spec.in_spec
    if dynamic_shapes is None or given is None:
        return {}
    found: dict[str, dict[int, str]] = {}
    specs = [
        spec for spec in program.graph_signature.input_specs if spec.kind == InputKind.USER_INPUT
    ]
    shapes = dynamic_shapes.leaves(given)
    for spec, shape in zip(specs, shapes, strict=False):
        if isinstance(shape, Mapping):
            axes = dict(shape)
        elif isinstance(shape, (tuple, list)):
            axes = dict(enumerate(shape))
        else:
            continue
        found[spec.arg.name] = {
            axis: dim.__name__ for axis, dim in axes.items() if isinstance(dim, Dim)
        }
    return found


def _expression(size: Any) -> sympy.Expr | None:
    """Returns the expression of an open size, None of a number."""
    node = getattr(size, "node", None)
    expression = getattr(node, "expr", None)
    if expression is None or isinstance(expression, sympy.Integer):
        return None
    return expression


def _least(limit: Any, is_number: bool) -> int | None:
    """Returns the lower limit, None where there is none. No size is below 0; a number may be."""
    none = -_NO_LIMIT if is_number else 0
    return int(limit) if getattr(limit, "is_Integer", False) and limit > none else None


def _most(limit: Any) -> int | None:
    return int(limit) if getattr(limit, "is_Integer", False) and limit < _NO_LIMIT else None

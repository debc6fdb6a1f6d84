"""What a function on tensors computes, evaluated with numpy: a check that shares no code with hirc.

A linalg.generic is evaluated over its whole iteration space at once, a value of the region being an
array with one axis a loop, of size 1 where it does not depend on the loop. Regions that read what
they write are evaluated one iteration of the reducing loops after the other. bf16 is not known.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hirc.dialects.mlir import ir

Array = np.ndarray[Any, np.dtype[Any]]

_TYPES: dict[str, Any] = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "i1": np.bool_,
    "index": np.int64,
}
_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "maximumf": np.maximum,
    "minimumf": np.minimum,
    "maxnumf": np.fmax,
    "minnumf": np.fmin,
    "logaddexp": np.logaddexp,
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "divsi": lambda a, b: np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b)),
    "powf": np.power,
    "fpowi": np.power,
}
_UNARY: dict[str, Callable[[Array], Array]] = {
    "negf": np.negative,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "absf": np.abs,
    "rsqrt": lambda x: (1 / np.sqrt(x)).astype(x.dtype),
    "erf": lambda x: np.asarray(np.vectorize(math.erf, otypes=[float])(x)).astype(x.dtype),
}
_CASTS = ("extf", "truncf", "index_cast", "extsi", "trunci", "sitofp", "fptosi", "uitofp")


def _not(compare: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda one, other: ~compare(one, other)


_ORDERED: dict[int, Any] = {
    1: np.equal,
    2: np.greater,
    3: np.greater_equal,
    4: np.less,
    5: np.less_equal,
    9: _not(np.less_equal),
    10: _not(np.less),
    11: _not(np.greater_equal),
    12: _not(np.greater),
    13: np.not_equal,
}
_SIGNED = {
    0: np.equal,
    1: np.not_equal,
    2: np.less,
    3: np.less_equal,
    4: np.greater,
    5: np.greater_equal,
}
_PRODUCTS = {"linalg.matmul": "mk,kn->mn", "linalg.batch_matmul": "bmk,bkn->bmn"}
_NEUTRAL: dict[str, int | float] = {
    "mulf": 1,
    "maximumf": -math.inf,
    "minimumf": math.inf,
    "addi": 0,
    "muli": 1,
    "maxsi": -(2**63),
    "minsi": 2**63 - 1,
}


def evaluate(function: ir.Operation, inputs: Sequence[Array]) -> list[Array]:
    """The results of a func.func on tensors, of one block."""
    block = function.regions[0].blocks[0]
    values: dict[ir.Value, Array] = dict(zip(block.arguments, inputs, strict=True))
    # What a GPU computes without a word, numpy warns of.
    with np.errstate(all="ignore"):
        for op in block:
            if op.operation.name == "func.return":
                return [values[value] for value in op.operation.operands]
            _operation(op.operation, values)
    raise AssertionError("a function without a return")


def _operation(op: ir.Operation, values: dict[ir.Value, Array]) -> None:
    if op.name == "linalg.generic":
        for result, value in zip(op.results, _generic(op, values), strict=True):
            values[result] = value
        return
    operands = [values[value] for value in op.operands]
    if op.name == "linalg.fill":
        values[op.results[0]] = np.full_like(operands[1], operands[0])
    elif op.name == "linalg.transpose":
        values[op.results[0]] = operands[0].transpose(
            list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))
        )
    elif op.name == "linalg.broadcast":
        added = tuple(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
        wide = np.expand_dims(operands[0], added)
        values[op.results[0]] = np.broadcast_to(wide, operands[1].shape)
    elif op.name in _PRODUCTS:
        values[op.results[0]] = operands[2] + np.einsum(
            _PRODUCTS[op.name], *operands[:2], dtype=operands[2].dtype
        )
    elif op.name == "tensor.empty":
        kind = ir.RankedTensorType(op.results[0].type)
        sizes = iter(operands)
        shape = [
            int(next(sizes)) if kind.is_dynamic_dim(axis) else kind.shape[axis]
            for axis in range(kind.rank)
        ]
        # What no one should read shows if it is read.
        values[op.results[0]] = np.full(shape, 77, _dtype(kind.element_type))
    elif op.name == "tensor.dim":
        values[op.results[0]] = np.asarray(operands[0].shape[int(operands[1])])
    elif op.name == "tensor.cast":
        values[op.results[0]] = operands[0]
    elif op.name in ("tensor.expand_shape", "tensor.collapse_shape"):
        values[op.results[0]] = _reshape(op, operands)
    elif op.name == "cf.assert":
        assert operands[0], "a cf.assert fails"
    else:
        values[op.results[0]] = _scalar(op, operands)


def _reshape(op: ir.Operation, operands: list[Array]) -> Array:
    kind = ir.RankedTensorType(op.results[0].type)
    if op.name == "tensor.expand_shape":
        sizes = iter(operands[1:])
        shape = [
            int(next(sizes)) if kind.is_dynamic_dim(axis) else kind.shape[axis]
            for axis in range(kind.rank)
        ]
        return operands[0].reshape(shape)
    groups = [
        [ir.IntegerAttr(d).value for d in ir.ArrayAttr(g)] for g in _list(op, "reassociation")
    ]
    return operands[0].reshape([math.prod(operands[0].shape[d] for d in group) for group in groups])


def _generic(op: ir.Operation, outside: dict[ir.Value, Array]) -> list[Array]:
    maps = [ir.AffineMapAttr(map_).value for map_ in _list(op, "indexing_maps")]
    kinds = [str(kind) for kind in _list(op, "iterator_types")]
    inputs = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    operands = [outside[value] for value in op.operands]
    extents = [0] * len(kinds)
    for operand, map_ in zip(operands, maps, strict=True):
        for axis, expression in enumerate(map_.results):
            if isinstance(expression, ir.AffineDimExpr):
                extents[expression.position] = operand.shape[axis]
    for operand, map_ in zip(operands, maps, strict=True):
        for axis, expression in enumerate(map_.results):
            if isinstance(expression, ir.AffineDimExpr):
                assert extents[expression.position] == operand.shape[axis], f"sizes differ: {op}"
    outputs = [operand.copy() for operand in operands[inputs:]]
    block = op.regions[0].blocks[0]
    reads = any(True for each in list(block.arguments)[inputs:] for _ in each.uses)
    reducing = [loop for loop, kind in enumerate(kinds) if "reduction" in kind]
    serial = reducing if reads else []
    for point in itertools.product(*(range(extents[loop]) for loop in serial)):
        loops = [
            np.arange(extent).reshape([-1 if axis == loop else 1 for axis in range(len(extents))])
            for loop, extent in enumerate(extents)
        ]
        for loop, place in zip(serial, point, strict=True):
            loops[loop] = np.full([1] * len(extents), place)
        space = _Space(loops, [array.size for array in loops])
        values = dict(outside)
        for argument, operand, map_ in zip(
            block.arguments, [*operands[:inputs], *outputs], maps, strict=True
        ):
            values[argument] = space.load(operand, map_)
        for value, output, map_ in zip(
            space.run(block, values), outputs, maps[inputs:], strict=True
        ):
            space.store(value, output, map_)
    return outputs


class _Space:
    """The iterations that are evaluated at once: an array of indices a loop."""

    def __init__(self, loops: list[Array], extents: list[int]) -> None:
        self._loops = loops
        self._extents = extents

    def load(self, operand: Array, map_: ir.AffineMap) -> Array:
        if operand.ndim == 0:
            return np.asarray(operand).reshape([1] * len(self._loops))
        return operand[tuple(self._at(each) for each in map_.results)]

    def store(self, value: Array, output: Array, map_: ir.AffineMap) -> None:
        places = tuple(self._at(each) for each in map_.results)
        if not self._loops or not places:
            assert np.asarray(value).size == 1 or not output.ndim, "a scalar output varies"
            if np.asarray(value).size:
                output[...] = np.asarray(value).reshape(-1)[0]
            return
        shape = np.broadcast_shapes(*(place.shape for place in places))
        if np.ndim(value) == 0:
            value = np.reshape(value, [1] * len(shape))
        # What the map lacks, the value must not depend on.
        assert all(size in (1, have) for size, have in zip(np.shape(value), shape, strict=True))
        output[places] = np.broadcast_to(value, shape)

    def run(self, block: ir.Block, values: dict[ir.Value, Array]) -> list[Array]:
        for each in block:
            op = each.operation
            operands = [values[value] for value in op.operands]
            if op.name == "linalg.yield":
                return operands
            if op.name == "linalg.index":
                values[op.results[0]] = self._loops[ir.IntegerAttr(op.attributes["dim"]).value]
            elif op.name == "tensor.extract":
                values[op.results[0]] = operands[0][tuple(np.broadcast_arrays(*operands[1:]))]
            elif op.name == "tensor.dim":
                values[op.results[0]] = np.asarray(operands[0].shape[int(operands[1])])
            elif op.name == "cf.assert":
                assert np.all(operands[0]), "a cf.assert fails"
            elif op.name.startswith("hir."):
                for result, value in zip(
                    op.results, self._collective(op, operands[0]), strict=True
                ):
                    values[result] = value
            else:
                values[op.results[0]] = _scalar(op, operands)
        raise AssertionError("a region without an end")

    def _at(self, each: ir.AffineExpr) -> Array:
        if isinstance(each, ir.AffineDimExpr):
            return self._loops[each.position]
        if isinstance(each, ir.AffineConstantExpr):
            return np.full([1] * len(self._loops), each.value)
        assert isinstance(each, ir.AffineAddExpr | ir.AffineMulExpr), each
        left, right = self._at(each.lhs), self._at(each.rhs)
        return left + right if isinstance(each, ir.AffineAddExpr) else left * right

    def _collective(self, op: ir.Operation, value: Array) -> list[Array]:
        kind = ir.StringAttr(op.attributes["kind"]).value
        combine = _BINARY[kind]
        if op.name == "hir.scan_loop":
            loop = ir.IntegerAttr(op.attributes["loop"]).value
            value = self._spread(value, [loop])
            return [combine.accumulate(value, axis=loop, dtype=value.dtype)]  # type: ignore
        loops = list(ir.DenseI64ArrayAttr(op.attributes["loops"]))
        value = self._spread(value, loops)
        if op.name == "hir.reduce_loops":
            return [_reduced(kind, value, tuple(loops))]
        (loop,) = loops
        find = np.argmax if kind.startswith("max") else np.argmin
        return [_reduced(kind, value, (loop,)), find(value, axis=loop, keepdims=True)]

    def _spread(self, value: Array, loops: list[int]) -> Array:
        shape = list(np.broadcast_shapes(np.shape(value), [1] * len(self._loops)))
        for loop in loops:
            shape[loop] = self._extents[loop]
        return np.broadcast_to(value, shape)


def _reduced(kind: str, value: Array, loops: tuple[int, ...]) -> Array:
    """A sum in twice the precision: what it should be compared with, whatever its order."""
    if kind == "addf":
        return value.sum(axis=loops, keepdims=True, dtype=np.float64).astype(value.dtype)
    neutral = _NEUTRAL.get(kind)
    combine: Any = _BINARY[kind]
    if neutral is None:
        return combine.reduce(value, axis=loops, keepdims=True)
    return combine.reduce(value, axis=loops, keepdims=True, initial=value.dtype.type(neutral))


def _scalar(op: ir.Operation, operands: list[Array]) -> Array:
    name = op.name.partition(".")[2]
    if op.name == "arith.constant":
        return _constant(op)
    kind = op.results[0].type
    if name in _BINARY:
        return _BINARY[name](*operands)
    if name in _UNARY:
        return _UNARY[name](*operands)
    if name in _CASTS:
        return np.asarray(operands[0]).astype(_dtype(kind))
    if name in ("extui", "uitofp"):
        return np.asarray(operands[0]).astype(_dtype(kind))
    if name == "select":
        return np.where(*operands)
    predicate = ir.IntegerAttr(op.attributes["predicate"]).value
    return (_ORDERED if name == "cmpf" else _SIGNED)[predicate](*operands)


def _constant(op: ir.Operation) -> Array:
    attribute = op.attributes["value"]
    kind = op.results[0].type
    if isinstance(kind, ir.RankedTensorType):
        dense: Any = attribute
        element = _dtype(kind.element_type)
        if dense.is_splat:
            return np.full(kind.shape, dense.get_splat_value().value, element)
        return np.array(list(dense), element).reshape(kind.shape)
    return np.asarray(attribute.value, _dtype(kind))  # type: ignore


def _dtype(kind: ir.Type) -> Any:
    return _TYPES[str(kind)]


def _list(op: ir.Operation, name: str) -> list[ir.Attribute]:
    return list(ir.ArrayAttr(op.attributes[name]))

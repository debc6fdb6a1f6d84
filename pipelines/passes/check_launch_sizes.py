"""check-launch-sizes: what a kernel says of its launches has to be true of them."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import ClassVar

from ...dialects.mlir import arith, cf, gpu, ir
from ...dialects.records import dataclass
from ..call_graph import functions_by_name, reachable_functions
from ..constants import constant_value
from ..pass_base import Pass, fail, register
from ..rewriting import index_constant
from ..walking import host_operations_where, operations_where

_WARP_LANES = 32
_BOUND = "upper_bound"
# What is known exactly, along each axis: attributes, and of what.
_EXACT = {
    "known_grid_size": "grid",
    "gpu.known_grid_size": "grid",
    "known_block_size": "block",
    "gpu.known_block_size": "block",
    "nvvm.reqntid": "block",
    "known_cluster_size": "cluster",
    "gpu.known_cluster_size": "cluster",
    "nvvm.cluster_dim": "cluster",
}
_MOST_THREADS = "nvvm.maxntid"
# What an operation's upper_bound is about; a product of several where there are several.
_BOUNDED = {
    "gpu.thread_id": ("block",),
    "gpu.block_dim": ("block",),
    "gpu.block_id": ("grid",),
    "gpu.grid_dim": ("grid",),
    "gpu.global_id": ("grid", "block"),
    "gpu.cluster_block_id": ("cluster",),
    "gpu.cluster_dim_blocks": ("cluster",),
}
_OF_WARPS = ("gpu.lane_id", "gpu.subgroup_size")
_UNITS = {"grid": "blocks", "block": "threads", "cluster": "blocks in a cluster"}


@register
@dataclass(frozen=True)
class CheckLaunchSizes(Pass):
    """Compares each gpu.launch_func with what its kernel promises of the sizes of its launches.

    A kernel is compiled for the sizes that it says it knows (`known_block_size`, `known_grid_size`,
    `known_cluster_size`, nvvm's `reqntid`, `maxntid`, `cluster_dim`) and within the `upper_bound`
    of what it asks; a launch of others computes something else without a word. Constant sizes are
    refused here; others are compared on the host before the launch.

      gpu.func @k() kernel attributes {known_grid_size = array<i32: 2, 1, 1>}
      gpu.launch_func @m::@k blocks in (%n, %c1, %c1) ...
    becomes
      %fits = arith.cmpi eq, %n, %c2 : index
      cf.assert %fits, "the launch has another number of blocks in x: 'known_grid_size' ..."
      gpu.launch_func @m::@k blocks in (%n, %c1, %c1) ...
    """

    name: ClassVar[str] = "check-launch-sizes"
    makes: ClassVar[tuple[str, ...]] = ()

    def run(self, op: ir.Operation) -> None:
        promises: dict[tuple[str, str], list[_Promise]] = {}
        for child in op.regions[0].blocks[0]:
            if child.operation.name == "gpu.module":
                module = ir.StringAttr(child.operation.attributes["sym_name"]).value
                for kernel, found in _promises(child.operation):
                    promises[module, kernel] = found
        for launch in host_operations_where(op, lambda inner: inner.name == "gpu.launch_func"):
            module, kernel = ir.SymbolRefAttr(launch.attributes["kernel"]).value
            for promise in promises.get((module, kernel), []):
                _check(launch, kernel, promise)


@dataclass(frozen=True)
class _Promise:
    """That the product of sizes is `value`, or at most that; `said` is by what.

    A size is of "grid", "block" or "cluster", along an axis.
    """

    sizes: tuple[tuple[str, int], ...]
    value: int
    exactly: bool
    said: str

    @property
    def unit(self) -> str:
        what, axis = self.sizes[-1]
        of_all = len({axis for _, axis in self.sizes}) > 1
        return _UNITS[what] if of_all else f"{_UNITS[what]} in {'xyz'[axis]}"


def _promises(module: ir.Operation) -> Iterator[tuple[str, list[_Promise]]]:
    """Yields what each function of a gpu.module promises, in itself and in what it calls."""
    functions = functions_by_name(module)
    bounded = operations_where(module, _has_bound)
    for op in bounded:
        _check_warps(op)
    for name, function in functions.items():
        found = [*_exact(function), *_most_threads(function)]
        if bounded:
            for reached in reachable_functions(function, functions):
                found += _bounds(reached)
        yield name, found


def _has_bound(op: ir.Operation) -> bool:
    return (op.name in _BOUNDED or op.name in _OF_WARPS) and _BOUND in op.attributes


def _exact(function: ir.Operation) -> Iterator[_Promise]:
    for name, what in _EXACT.items():
        if name in function.attributes:
            given = list(ir.DenseI32ArrayAttr(function.attributes[name]))
            for axis, value in enumerate((*given, 1, 1)[:3]):
                yield _Promise(((what, axis),), value, True, name)


def _most_threads(function: ir.Operation) -> Iterator[_Promise]:
    if _MOST_THREADS in function.attributes:
        most = prod(ir.DenseI32ArrayAttr(function.attributes[_MOST_THREADS]))
        yield _Promise(tuple(("block", axis) for axis in range(3)), most, False, _MOST_THREADS)


def _bounds(function: ir.Operation) -> Iterator[_Promise]:
    for op in operations_where(function, lambda op: op.name in _BOUNDED and _has_bound(op)):
        axis = _axis(op)
        bound = ir.IntegerAttr(op.attributes[_BOUND]).value
        sizes = tuple((what, axis) for what in _BOUNDED[op.name])
        yield _Promise(sizes, bound, False, f"{op.name} upper_bound")


def _axis(op: ir.Operation) -> int:
    return "xyz".index(str(op.attributes["dimension"]).rstrip(">").split()[-1])


def _check_warps(op: ir.Operation) -> None:
    bound = ir.IntegerAttr(op.attributes[_BOUND]).value
    if op.name in _OF_WARPS and bound < _WARP_LANES:
        fail(op, f"upper_bound {bound} is wrong: a warp has {_WARP_LANES} lanes")


def _check(launch: ir.Operation, kernel: str, promise: _Promise) -> None:
    op = launch.opview
    assert isinstance(op, gpu.LaunchFuncOp)
    given = {
        "grid": (op.gridSizeX, op.gridSizeY, op.gridSizeZ),
        "block": (op.blockSizeX, op.blockSizeY, op.blockSizeZ),
        "cluster": (op.clusterSizeX, op.clusterSizeY, op.clusterSizeZ),
    }
    sizes = [given[what][axis] for what, axis in promise.sizes]
    values = [size for size in sizes if size is not None]
    if len(values) < len(sizes):
        # Without a cluster's size, the launch has the kernel's own.
        return
    known = [each for value in values if (each := constant_value(value)) is not None]
    limit = "" if promise.exactly else "at most "
    said = f"'{promise.said}' of kernel '{kernel}' says {limit}{promise.value}"
    if len(known) == len(values):
        size = prod(known)
        if size > promise.value or (promise.exactly and size != promise.value):
            fail(launch, f"the launch has {size} {promise.unit}; {said}")
        return
    with launch.location, ir.InsertionPoint(launch):
        total = values[0]
        for value in values[1:]:
            total = arith.muli(total, value)
        relation = arith.CmpIPredicate.eq if promise.exactly else arith.CmpIPredicate.ule
        fits = arith.cmpi(relation, total, _constant_like(total.type, promise.value))
        cf.AssertOp(fits, f"the launch has another number of {promise.unit}: {said}")


def _constant_like(kind: ir.Type, value: int) -> ir.Value:
    if isinstance(kind, ir.IndexType):
        return index_constant(value)
    return arith.constant(kind, value)

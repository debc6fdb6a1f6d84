"""promote-shared-memory: static shared memory past 48 KB becomes dynamic."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from ...dialects.mlir import gpu, ir, memref
from ...dialects.records import dataclass
from ..call_graph import functions_by_name, reachable_functions
from ..host.types import DYNAMIC
from ..launch_size import add_shared_bytes
from ..pass_base import Pass, fail, register
from ..rewriting import index_constant
from ..shared_buffers import (
    STATIC_SHARED_BYTES,
    attributions,
    buffer_bytes,
    global_type,
    globals_used,
    is_get_global,
    shared_globals,
)
from ..shared_tiles import PATTERN, has_tiles
from ..symbols import symbol_name
from ..walking import host_operations_where, operations_where
from .name_device_symbols import is_kernel

# What every buffer gets; a larger alignment that it asks for is kept.
_ALIGNMENT = 128
_ATTRIBUTES = "workgroup_attrib_attrs"
_BYTES = "memref<?xi8, #gpu.address_space<workgroup>>"


@register
@dataclass(frozen=True)
class PromoteSharedMemory(Pass):
    """Moves what a kernel has of static shared memory into dynamic, when it passes 48 KB.

    A kernel's attributions and the memref.globals that it and the functions it calls use count
    together. The attributions go first, and the globals where they alone are too many. Kernels
    that share a global, directly or not, keep it at one offset, before their attributions. Each
    launch of the kernel asks for their bytes on top of what it asked for; what the kernel and the
    functions it calls have of gpu.dynamic_shared_memory begins after them.

      gpu.func @k() workgroup(%tile: memref<20000xf32, #gpu.address_space<workgroup>>) kernel
    becomes a memref.view of gpu.dynamic_shared_memory, and the launch gets
      dynamic_shared_memory_size %c80000_i32
    """

    name: ClassVar[str] = "promote-shared-memory"

    def run(self, op: ir.Operation) -> bool:
        promoted: dict[tuple[str, str], int] = {}
        for child in op.regions[0].blocks[0]:
            if child.operation.name == "gpu.module":
                scope = symbol_name(child.operation)
                for name, size in _promote(child.operation).items():
                    promoted[scope, name] = size
        if not promoted:
            return False
        for launch in host_operations_where(op, lambda inner: inner.name == "gpu.launch_func"):
            scope, kernel = ir.SymbolRefAttr(launch.attributes["kernel"]).value
            size = promoted.get((scope, kernel))
            if size is not None:
                add_shared_bytes(launch, size)
        return True


@dataclass(frozen=True)
class _Buffer:
    """The bytes that a buffer takes, and what it begins at a multiple of."""

    bytes: int
    alignment: int


@dataclass
class _Kernel:
    """A kernel, what it reaches, and the bytes of dynamic shared memory it will begin with.

    `offsets` are those of its attributions, where they become dynamic.
    """

    op: ir.Operation
    functions: list[ir.Operation]
    globals: set[str]
    attributions: list[_Buffer]
    offsets: list[int] = field(default_factory=list[int])
    promoted: int = 0


@dataclass
class _Group:
    """Kernels that share globals, and the globals."""

    kernels: list[_Kernel]
    globals: set[str] = field(default_factory=set[str])


def _promote(module: ir.Operation) -> dict[str, int]:
    """Rewrites a gpu.module; the bytes by which the launches of each kernel grow."""
    variables = shared_globals(module)
    buffers = {
        name: _Buffer(_bytes(op, global_type(op)), _alignment(op.attributes, "alignment"))
        for name, op in variables.items()
    }
    functions = functions_by_name(module)
    kernels = [
        (function, _attribution_buffers(function))
        for function in functions.values()
        if is_kernel(function)
    ]
    own = max((sum(each.bytes for each in given) for _, given in kernels), default=0)
    if own + sum(buffer.bytes for buffer in buffers.values()) <= STATIC_SHARED_BYTES:
        # Whichever of them a kernel uses.
        return {}
    return _move(
        module,
        functions,
        variables,
        buffers,
        [_kernel(*each, functions, variables) for each in kernels],
    )


def _move(
    module: ir.Operation,
    functions: dict[str, ir.Operation],
    variables: dict[str, ir.Operation],
    buffers: dict[str, _Buffer],
    kernels: list[_Kernel],
) -> dict[str, int]:
    """Moves what is too much; the bytes by which the launches of each kernel grow."""
    offsets: dict[str, int] = {}
    for group in _groups(kernels):
        _plan(group, buffers, offsets)
    if has_tiles(module):
        for kernel in kernels:
            # What the kernel has of its own then begins where align-dynamic-shared would let it.
            kernel.promoted = -(-kernel.promoted // PATTERN) * PATTERN
    own_memory = _own_memory(kernels, functions)
    for kernel in kernels:
        if kernel.offsets:
            _promote_attributions(kernel)
    for memory, offset in own_memory:
        _begin_later(memory, offset)
    for function in functions.values():
        _address_globals(function, offsets)
    for name in offsets:
        variables[name].erase()
    return {symbol_name(kernel.op): kernel.promoted for kernel in kernels if kernel.promoted}


def _kernel(
    op: ir.Operation,
    attributions: list[_Buffer],
    functions: dict[str, ir.Operation],
    variables: dict[str, ir.Operation],
) -> _Kernel:
    reached = reachable_functions(op, functions)
    return _Kernel(op, reached, globals_used(reached) & variables.keys(), attributions)


def _attribution_buffers(function: ir.Operation) -> list[_Buffer]:
    values = attributions(function)
    entries = [ir.DictAttr.get({})] * len(values)
    if _ATTRIBUTES in function.attributes:
        entries = [ir.DictAttr(each) for each in ir.ArrayAttr(function.attributes[_ATTRIBUTES])]
    return [
        _Buffer(_bytes(function, ir.MemRefType(value.type)), _alignment(given, "llvm.align"))
        for value, given in zip(values, entries, strict=True)
    ]


def _alignment(attributes: ir.OpAttributeMap | ir.DictAttr, name: str) -> int:
    if name not in attributes:
        return _ALIGNMENT
    return max(_ALIGNMENT, ir.IntegerAttr(attributes[name]).value)


def _groups(kernels: list[_Kernel]) -> list[_Group]:
    groups: list[_Group] = []
    for kernel in kernels:
        merged = _Group([kernel], set(kernel.globals))
        apart: list[_Group] = []
        for group in groups:
            if group.globals & merged.globals:
                merged = _Group(group.kernels + merged.kernels, group.globals | merged.globals)
            else:
                apart.append(group)
        groups = [*apart, merged]
    return groups


def _plan(group: _Group, buffers: dict[str, _Buffer], offsets: dict[str, int]) -> None:
    """Decides what becomes dynamic in the kernels of a group, and the offsets of globals."""
    first = 0
    taken = [sum(buffers[name].bytes for name in kernel.globals) for kernel in group.kernels]
    if max(taken) > STATIC_SHARED_BYTES:
        names = [name for name in buffers if name in group.globals]
        places, first = _place([buffers[name] for name in names], 0)
        offsets.update(zip(names, places, strict=True))
    for kernel, shared in zip(group.kernels, taken, strict=True):
        own = sum(buffer.bytes for buffer in kernel.attributions)
        static = own if first else own + shared
        kernel.promoted = first
        if own and static > STATIC_SHARED_BYTES:
            kernel.offsets, kernel.promoted = _place(kernel.attributions, first)


def _place(buffers: list[_Buffer], start: int) -> tuple[list[int], int]:
    """Offsets of buffers from `start` on, and where the last ends."""
    offsets: list[int] = []
    end = start
    for buffer in buffers:
        end = -(-end // buffer.alignment) * buffer.alignment
        offsets.append(end)
        end += buffer.bytes
    return offsets, end


def _own_memory(
    kernels: list[_Kernel], functions: dict[str, ir.Operation]
) -> list[tuple[ir.Operation, int]]:
    """Returns each gpu.dynamic_shared_memory that has to begin later, and at which offset."""
    moved: list[tuple[ir.Operation, int]] = []
    for function in functions.values():
        own = operations_where(function, lambda op: op.name == "gpu.dynamic_shared_memory")
        starts = {kernel.promoted for kernel in kernels if function in kernel.functions}
        if not own or starts <= {0}:
            continue
        if len(starts) > 1:
            fail(
                own[0],
                f"'{symbol_name(function)}' uses dynamic shared memory and is called by kernels "
                "whose own begins at different offsets, after more than 48 KB of workgroup memory; "
                "pass the buffer to it instead",
            )
        offset = starts.pop()
        moved += [(op, offset) for op in own]
    return moved


def _promote_attributions(kernel: _Kernel) -> None:
    entry = kernel.op.regions[0].blocks[0]
    values = attributions(kernel.op)
    places = [value.arg_number for value in map(ir.BlockArgument, values)]
    with kernel.op.location, ir.InsertionPoint.at_block_begin(entry):
        for value, offset in zip(values, kernel.offsets, strict=True):
            value.replace_all_uses_with(_view(kernel.op, value.type, offset))
    for place in reversed(places):
        entry.erase_argument(place)
    for name in ("workgroup_attributions", _ATTRIBUTES):
        if name in kernel.op.attributes:
            del kernel.op.attributes[name]


def _begin_later(memory: ir.Operation, offset: int) -> None:
    start = memory.results[0]
    with memory.location, ir.InsertionPoint.after(memory):
        rest = memref.ViewOp(start.type, start, index_constant(offset), [index_constant(0)])
    start.replace_all_uses_except(rest.result, [rest.operation])


def _address_globals(function: ir.Operation, offsets: dict[str, int]) -> None:
    for use in operations_where(function, is_get_global):
        offset = offsets.get(ir.FlatSymbolRefAttr(use.attributes["name"]).value)
        if offset is None:
            continue
        with use.location, ir.InsertionPoint(use):
            view = _view(use, use.results[0].type, offset)
        use.results[0].replace_all_uses_with(view)
        use.erase()


def _bytes(op: ir.Operation, kind: ir.MemRefType) -> int:
    """Bytes that a buffer takes of shared memory, up to where the next one may begin."""
    return -(-buffer_bytes(op, kind) // _ALIGNMENT) * _ALIGNMENT


def _view(op: ir.Operation, kind: ir.Type, offset: int) -> ir.Value:
    """Returns a buffer of type `kind` at `offset` in dynamic shared memory."""
    buffer = ir.MemRefType(kind)
    if buffer.layout != ir.AffineMapAttr.get(ir.AffineMap.get_identity(buffer.rank)):
        fail(op, f"more than 48 KB of workgroup memory cannot have the layout of {kind}")
    base = gpu.DynamicSharedMemoryOp(ir.Type.parse(_BYTES)).result
    if buffer.memory_space != ir.MemRefType(base.type).memory_space:
        byte = ir.IntegerType.get_signless(8)
        spaced = ir.MemRefType.get([DYNAMIC], byte, memory_space=buffer.memory_space)
        base = memref.memory_space_cast(spaced, base)
    return memref.ViewOp(kind, base, index_constant(offset), []).result

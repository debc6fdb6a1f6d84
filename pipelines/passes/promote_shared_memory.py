"""promote-shared-memory: static shared memory past 48 KB becomes dynamic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...dialects.mlir import arith, gpu, ir, memref
from ..host.types import DYNAMIC, element_bytes
from ..pass_base import Pass, fail, register

# ptxas refuses more static shared memory than this on every chip (CUDA programming guide,
# technical specifications per compute capability: more must be dynamic).
_STATIC_LIMIT = 48 * 1024
# Enough for a TMA destination with 128-byte swizzle's own alignment demands left to the user.
_ALIGNMENT = 128
# gpu.launch_func's operand groups before its dynamic shared memory size.
_GROUPS_BEFORE_SIZE = 10


@register
@dataclass(frozen=True)
class PromoteSharedMemory(Pass):
    """Moves a kernel's workgroup attributions into dynamic shared memory when they pass 48 KB.

    Each launch of the kernel asks for their bytes on top of what it asked for; the kernel's own
    gpu.dynamic_shared_memory begins after them.

      gpu.func @k() workgroup(%tile: memref<20000xf32, #gpu.address_space<workgroup>>) kernel
    becomes a memref.view of gpu.dynamic_shared_memory, and the launch gets
      dynamic_shared_memory_size %c80000_i32
    """

    name: ClassVar[str] = "promote-shared-memory"

    def run(self, op: ir.Operation) -> None:
        promoted: dict[tuple[str, str], int] = {}
        for module in op.regions[0].blocks[0]:
            if module.operation.name != "gpu.module":
                continue
            scope = module.operation.attributes["sym_name"].value
            for function in module.operation.regions[0].blocks[0]:
                if function.operation.name == "gpu.func":
                    size = _promote(function.operation)
                    if size:
                        name = function.operation.attributes["sym_name"].value
                        promoted[scope, name] = size
        if not promoted:
            return
        launches: list[ir.Operation] = []

        def visit(inner: ir.Operation) -> ir.WalkResult:
            if inner.name == "gpu.launch_func":
                launches.append(inner)
            return ir.WalkResult.ADVANCE

        op.walk(visit)
        for launch in launches:
            scope, kernel = ir.SymbolRefAttr(launch.attributes["kernel"]).value
            size = promoted.get((scope, kernel))
            if size is not None:
                _enlarge(launch, size)


def _promote(function: ir.Operation) -> int:
    """Rewrites one kernel; the bytes its launches must add, or 0 where nothing is to do."""
    attributes = function.attributes
    count = (
        attributes["workgroup_attributions"].value if "workgroup_attributions" in attributes else 0
    )
    if not count:
        return 0
    entry = function.regions[0].blocks[0]
    first = len(ir.FunctionType(attributes["function_type"].value).inputs)
    buffers: list[ir.Value] = [entry.arguments[first + index] for index in range(count)]
    offsets, total = _layout(function, buffers)
    if total <= _STATIC_LIMIT:
        return 0
    kind = ir.Type.parse("memref<?xi8, #gpu.address_space<workgroup>>")
    users = _dynamic_memory(function)
    with function.location, ir.InsertionPoint.at_block_begin(entry):
        base = gpu.DynamicSharedMemoryOp(kind).result
        for buffer, offset in zip(buffers, offsets, strict=True):
            view = memref.ViewOp(buffer.type, base, _index(offset), [])
            buffer.replace_all_uses_with(view.result)
        for user in users:
            rest = memref.ViewOp(kind, base, _index(total), [_index(0)])
            user.results[0].replace_all_uses_with(rest.result)
            user.erase()
    for index in reversed(range(count)):
        entry.erase_argument(first + index)
    for name in ("workgroup_attributions", "workgroup_attrib_attrs"):
        if name in attributes:
            del attributes[name]
    return total


def _layout(function: ir.Operation, buffers: list[ir.Value]) -> tuple[list[int], int]:
    """Byte offsets of the buffers one after another, and the bytes of all."""
    offsets: list[int] = []
    total = 0
    for buffer in buffers:
        kind = ir.MemRefType(buffer.type)
        size = element_bytes(kind.element_type)
        for extent in kind.shape:
            if extent == DYNAMIC:
                fail(function, f"workgroup memory has a static size, not {kind}")
            size *= extent
        offsets.append(total)
        total += -(-size // _ALIGNMENT) * _ALIGNMENT
    return offsets, total


def _dynamic_memory(function: ir.Operation) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "gpu.dynamic_shared_memory":
            found.append(op)
        return ir.WalkResult.ADVANCE

    function.walk(visit)
    return found


def _enlarge(launch: ir.Operation, size: int) -> None:
    """The same launch with `size` more bytes of dynamic shared memory."""
    i32 = ir.IntegerType.get_signless(32)
    segments = list(ir.DenseI32ArrayAttr(launch.attributes["operandSegmentSizes"]))
    at = sum(segments[:_GROUPS_BEFORE_SIZE])
    operands = list(launch.operands)
    with launch.location, ir.InsertionPoint(launch):
        total = arith.constant(i32, size)
        if segments[_GROUPS_BEFORE_SIZE]:
            operands[at] = arith.addi(operands[at], total)
        else:
            operands.insert(at, total)
            segments[_GROUPS_BEFORE_SIZE] = 1
        attributes = {name: launch.attributes[name] for name in launch.attributes}
        attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
        again = ir.Operation.create(
            "gpu.launch_func",
            results=[result.type for result in launch.results],
            operands=operands,
            attributes=attributes,
        )
    for old, new in zip(launch.results, again.results, strict=True):
        old.replace_all_uses_with(new)
    launch.erase()


def _index(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)

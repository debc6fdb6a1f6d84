"""align-dynamic-shared: dynamic shared memory that begins where swizzled tiles may."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import arith, ir, memref
from ...dialects.records import dataclass
from ..launch_size import add_shared_bytes, asks_for_shared_memory
from ..pass_base import Pass, register
from ..shared_tiles import PATTERN, has_tiles
from ..walking import operations_where

_GIVEN = 16  # bytes: what the linker gives


@register
@dataclass(frozen=True)
class AlignDynamicShared(Pass):
    """Rounds dynamic shared memory up to 1024 bytes where tiles are copied or multiplied.

    The swizzles of TMA and wgmma count from multiples of 1024, and dynamic shared memory begins
    where a kernel's static part ends, which one mbarrier moves. An aligned symbol does not help:
    nvlink forgets the alignment of dynamic shared memory. So the kernels of a module that uses
    those operations round the address, and its launches ask for the bytes this may skip.

      %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    becomes
      %start = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %address = memref.extract_aligned_pointer_as_index %start
      %skipped = (0 - %address) & 1023
      %shared = memref.view %start[%skipped][%size]
    and a launch's `dynamic_shared_memory_size` grows by 1008.
    """

    name: ClassVar[str] = "align-dynamic-shared"
    subjects: ClassVar[tuple[str, ...]] = ("gpu.dynamic_shared_memory",)

    def run(self, op: ir.Operation) -> None:
        rounded: set[str] = set()
        launches: list[ir.Operation] = []
        for child in op.regions[0].blocks[0]:
            if child.operation.name == "gpu.module":
                if _round_up(child.operation):
                    rounded.add(ir.StringAttr(child.operation.attributes["sym_name"]).value)
            else:
                launches += _operations(child.operation, ("gpu.launch_func",))
        for launch in launches:
            module = ir.SymbolRefAttr(launch.attributes["kernel"]).value[0]
            if module in rounded and asks_for_shared_memory(launch):
                add_shared_bytes(launch, PATTERN - _GIVEN)


def _operations(root: ir.Operation, names: tuple[str, ...]) -> list[ir.Operation]:
    return operations_where(root, lambda op: op.name.startswith(names))


def _round_up(module: ir.Operation) -> bool:
    """Returns whether the module needed it."""
    buffers = _operations(module, ("gpu.dynamic_shared_memory",))
    if not buffers or not has_tiles(module):
        return False
    for buffer in buffers:
        start = buffer.results[0]
        with buffer.location, ir.InsertionPoint.after(buffer):
            index = ir.IndexType.get()
            zero = arith.ConstantOp(index, 0).result
            mask = arith.ConstantOp(index, PATTERN - 1).result
            address = memref.ExtractAlignedPointerAsIndexOp(start)
            below = arith.SubIOp(zero, address.result).result
            skipped = arith.AndIOp(below, mask).result
            size = memref.DimOp(start, zero)
            view = memref.ViewOp(start.type, start, skipped, [size.result])
        start.replace_all_uses_except(
            view.result, [address.operation, size.operation, view.operation]
        )
    return True

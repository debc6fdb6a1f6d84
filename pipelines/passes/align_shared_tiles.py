"""align-shared-tiles: shared buffers that begin where TMA and wgmma need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..host.types import element_bytes
from ..pass_base import Pass, fail, register
from ..shared_tiles import PATTERN, find_buffer, takes_addresses, tiles_of
from ..walking import operations_where

_SHARED = ("#gpu.address_space<workgroup>", "3 : i64", "3")
_LEAST_TILE = 16  # bytes: an mbarrier is smaller than any tile
_ATTRIBUTES = "workgroup_attrib_attrs"
_ALIGNMENT = "llvm.align"


@register
@dataclass(frozen=True)
class AlignSharedTiles(Pass):
    """Aligns the static shared memory that TMA copies to or from, or wgmma multiplies.

    A buffer of the workgroup address space is aligned to the pattern of the swizzle: 256, 512 or
    1024 bytes, 128 without one. Where an operation does not tell which buffer it takes (the memref
    is an argument, or the operation takes an address), all buffers of its gpu.module are aligned.
    A tile at a constant offset where the operation would fault is an error. align-dynamic-shared
    does the same for dynamic shared memory.

      memref.global "private" @tile : memref<8x64xf16, #gpu.address_space<workgroup>>
    becomes, where a TMA copy with a swizzle of 128 bytes writes it,
      memref.global "private" @tile : ... {alignment = 1024 : i64}
    """

    name: ClassVar[str] = "align-shared-tiles"
    subjects: ClassVar[tuple[str, ...]] = (
        *("nvgpu.", "nvvm.cp.async.bulk.tensor.", "nvvm.wgmma.mma_async"),
        *("llvm.inline_asm", "nvvm.inline_ptx"),
    )

    def run(self, op: ir.Operation) -> None:
        for child in op.regions[0].blocks[0]:
            if child.operation.name == "gpu.module":
                needs = _Needs()
                for inner in operations_where(child.operation, _may_take_tiles):
                    needs.see(inner)
                if needs.everywhere or needs.of_globals or needs.of_arguments:
                    _align(child.operation, needs)


def _may_take_tiles(op: ir.Operation) -> bool:
    return bool(tiles_of(op)) or takes_addresses(op)


@dataclass
class _Needs:
    """What the buffers of a gpu.module need: by a global's name, an attribution, and all."""

    of_globals: dict[str, int] = field(default_factory=dict[str, int])
    of_arguments: dict[ir.Value, int] = field(default_factory=dict[ir.Value, int])
    everywhere: int = 0

    def see(self, op: ir.Operation) -> None:
        """Takes note of an operation's tiles."""
        if takes_addresses(op):
            self.everywhere = PATTERN
        for tile in tiles_of(op):
            buffer, offset = find_buffer(tile.memref)
            if offset is not None and offset % tile.required:
                fail(
                    op,
                    f"the tile begins at byte {offset} of its shared memory; {tile.unit} needs a "
                    f"multiple of {tile.required}",
                )
            self._add(buffer, tile.alignment)

    def _add(self, buffer: ir.Value, alignment: int) -> None:
        owner = buffer.owner
        if isinstance(owner, ir.Block):
            if buffer in _attributions(owner.owner.operation):
                known = self.of_arguments.get(buffer, 0)
                self.of_arguments[buffer] = max(known, alignment)
                return
        elif owner.operation.name == "memref.get_global":
            name = ir.FlatSymbolRefAttr(owner.operation.attributes["name"]).value
            self.of_globals[name] = max(self.of_globals.get(name, 0), alignment)
            return
        elif owner.operation.name == "gpu.dynamic_shared_memory":
            return
        self.everywhere = max(self.everywhere, alignment)


def _align(module: ir.Operation, needs: _Needs) -> None:
    for child in module.regions[0].blocks[0]:
        op = child.operation
        if op.name == "memref.global":
            kind = ir.MemRefType(ir.TypeAttr(op.attributes["type"]).value)
            name = ir.StringAttr(op.attributes["sym_name"]).value
            if str(kind.memory_space) in _SHARED:
                need = max(needs.of_globals.get(name, 0), _at_least(needs.everywhere, kind))
                _raise(op, need)
        elif op.name == "llvm.mlir.global" and _is_shared_array(op):
            _raise(op, needs.everywhere)
        elif op.name == "gpu.func":
            _align_attributions(op, needs)


def _is_shared_array(op: ir.Operation) -> bool:
    kind = str(ir.TypeAttr(op.attributes["global_type"]).value)
    in_shared = "addr_space" in op.attributes and (
        ir.IntegerAttr(op.attributes["addr_space"]).value == 3
    )
    return in_shared and kind.startswith(("!llvm.array", "!llvm.struct"))


def _at_least(need: int, kind: ir.MemRefType) -> int:
    """Returns what a buffer that may be a tile needs; nothing where it is too small for one."""
    size = element_bytes(kind.element_type)
    for extent in kind.shape:
        size *= extent
    return need if size >= _LEAST_TILE or size == 0 else 0


def _raise(op: ir.Operation, need: int) -> None:
    known = ir.IntegerAttr(op.attributes["alignment"]).value if "alignment" in op.attributes else 0
    if need > known:
        op.attributes["alignment"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), need)


def _attributions(function: ir.Operation) -> Sequence[ir.Value]:
    """Returns the workgroup buffers of a gpu.func."""
    if function.name != "gpu.func" or "workgroup_attributions" not in function.attributes:
        return []
    count = ir.IntegerAttr(function.attributes["workgroup_attributions"]).value
    first = len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs)
    return list(function.regions[0].blocks[0].arguments)[first : first + count]


def _align_attributions(function: ir.Operation, needs: _Needs) -> None:
    buffers = _attributions(function)
    wanted = [
        max(
            needs.of_arguments.get(buffer, 0),
            _at_least(needs.everywhere, ir.MemRefType(buffer.type)),
        )
        for buffer in buffers
    ]
    if not any(wanted):
        return
    known: list[ir.Attribute] = [ir.DictAttr.get({})] * len(buffers)
    if _ATTRIBUTES in function.attributes:
        known = list(ir.ArrayAttr(function.attributes[_ATTRIBUTES]))
    function.attributes[_ATTRIBUTES] = ir.ArrayAttr.get(
        [_with_alignment(ir.DictAttr(old), need) for old, need in zip(known, wanted, strict=True)]
    )


def _with_alignment(attributes: ir.DictAttr, need: int) -> ir.DictAttr:
    entries = {each.name: each.attr for each in attributes}
    known = ir.IntegerAttr(entries[_ALIGNMENT]).value if _ALIGNMENT in entries else 0
    if need > known:
        entries[_ALIGNMENT] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), need)
    return ir.DictAttr.get(entries)

"""Tiles in shared memory that TMA copies or wgmma multiplies: which they are, and where they lie.

A TMA copy of a tensor faults unless its tile begins at a multiple of 128 bytes; a wgmma operand
begins at one of 16. The swizzles count from multiples of their pattern: 8 rows of 32, 64 or 128
bytes (PTX ISA, "Swizzling Modes" and "Shared Memory Matrix Layout"). In a buffer that begins at
such a multiple the first element comes first, which is what programs take for granted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..dialects.mlir import ir
from ..dialects.records import dataclass
from .constants import constant_value
from .host.types import element_bytes
from .walking import has_operation

PATTERN = 1024  # bytes: the longest pattern, and what is kept for tiles of unknown swizzle
_PATTERNS = {"none": 128, "swizzle_32b": 256, "swizzle_64b": 512, "swizzle_128b": PATTERN}
_TMA_BYTES, _WGMMA_BYTES = 128, 16
_RAW = ("nvvm.cp.async.bulk.tensor.", "nvvm.wgmma.mma_async")
_FAMILIES = ("nvgpu.tma.", "nvgpu.warpgroup.", "nvvm.cp.async.bulk.tensor.", "nvvm.wgmma.")
_RAW_PTX = re.compile(r"\bcp\.(?:reduce\.)?async\.bulk\.tensor|\bwgmma\.mma_async")
_PTX_TEXTS = {"llvm.inline_asm": "asm_string", "nvvm.inline_ptx": "ptxCode"}
_CASTS = ("memref.cast", "memref.memory_space_cast", "memref.assume_alignment")
_VIEWS = (
    *("memref.subview", "memref.reinterpret_cast", "memref.collapse_shape"),
    *("memref.expand_shape", "memref.transpose", *_CASTS),
)


@dataclass(frozen=True)
class Tile:
    """A memref that an operation takes as a tile.

    Its buffer is to begin at a multiple of `alignment` bytes; the operation, of the `unit` named,
    needs the tile itself at a multiple of `required`.
    """

    memref: ir.Value
    alignment: int
    required: int
    unit: str


def tiles_of(op: ir.Operation) -> list[Tile]:
    """Returns the tiles of an operation of nvgpu."""
    if op.name in ("nvgpu.tma.async.load", "nvgpu.tma.async.store"):
        buffers = [each for each in op.operands if isinstance(each.type, ir.MemRefType)]
        return [Tile(each, _pattern(op.operands), _TMA_BYTES, "TMA") for each in buffers]
    if op.name == "nvgpu.warpgroup.generate.descriptor":
        return [Tile(op.operands[0], _pattern(op.operands), _WGMMA_BYTES, "wgmma")]
    return []


def takes_addresses(op: ir.Operation) -> bool:
    """Returns whether an operation takes tiles by address, so that nothing tells which, nor the
    swizzle.
    """
    if op.name.startswith(_RAW):
        return True
    text = _PTX_TEXTS.get(op.name)
    return text is not None and bool(_RAW_PTX.search(str(op.attributes[text])))


def has_tiles(module: ir.Operation) -> bool:
    """Returns whether a gpu.module copies or multiplies tiles at all."""

    def concerns_tiles(op: ir.Operation) -> bool:
        name = op.name
        return name.startswith(_FAMILIES) or (name in _PTX_TEXTS and takes_addresses(op))

    return has_operation(module, concerns_tiles)


def _pattern(operands: Iterable[ir.Value]) -> int:
    """Returns the bytes after which the swizzle of the descriptor among an operation's operands
    repeats.
    """
    for operand in operands:
        found = re.search(r"tensormap\.descriptor<.*\bswizzle = (\w+)", str(operand.type))
        if found is not None:
            return _PATTERNS[found[1]]
    return PATTERN


def find_buffer(tile: ir.Value) -> tuple[ir.Value, int | None]:
    """Returns the buffer that a tile is a view of, and at which byte (None: unknown)."""
    value, offset = tile, _own_offset(tile)
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        if op.name == "memref.view":
            shift = constant_value(op.operands[1])
            source = _own_offset(op.operands[0])
            known = None not in (offset, shift, source)
            offset = (offset or 0) + (shift or 0) + (source or 0) if known else None
        elif op.name in _CASTS:
            # A cast may hide what its operand's type tells.
            offset = _own_offset(op.operands[0]) if offset is None else offset
        elif op.name not in _VIEWS:
            break
        value = op.operands[0]
    return value, offset


def _own_offset(value: ir.Value) -> int | None:
    """Returns the bytes from a memref's base to its first element, where its type tells."""
    kind = ir.MemRefType(value.type)
    offset = kind.get_strides_and_offset()[1]
    if offset == ir.ShapedType.get_dynamic_stride_or_offset():
        return None
    return offset * element_bytes(kind.element_type)

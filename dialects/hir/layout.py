"""How buffers and their views lie in memory, as far as the types say.

A layout is the strides and offset of a memref type, in elements; DYNAMIC stands for a size, stride
or offset that the type leaves open. `views` has the types of views, `shapes` and `element_rules`
what compute operations give. Verifiers compare declared types with these; the builder and the
lowering take theirs from them.
"""

from collections.abc import Sequence
from math import prod

from ..mlir import ir

DYNAMIC: int = ir.ShapedType.get_dynamic_size()
# What no size, stride or offset of a type is.
_LIMIT = 2**63


class LayoutError(ValueError):
    """The view or result does not exist; the message says why."""


def product(factors: Sequence[int]) -> int:
    """Returns the product, DYNAMIC where a factor is; of 0 and anything 0."""
    if 0 in factors:
        return 0
    return DYNAMIC if DYNAMIC in factors else prod(factors)


def show_sizes(sizes: Sequence[int]) -> str:
    """Sizes or strides for a message: `[?, 4]`."""
    return "[" + ", ".join("?" if size == DYNAMIC else str(size) for size in sizes) + "]"


def packed_strides(shape: Sequence[int]) -> list[int]:
    """Returns the strides of row-major order without gaps, DYNAMIC beyond the first open size.

    A size of 0 counts as 1.
    """
    strides: list[int] = []
    stride = 1
    for size in reversed(shape):
        strides.insert(0, stride)
        stride = product([stride, 1 if size == 0 else size])
    return strides


def strides_and_offset(buffer: ir.MemRefType) -> tuple[list[int], int]:
    """Returns the strides and the offset of a type, DYNAMIC where they are open."""
    if has_identity_layout(buffer):
        return packed_strides(buffer.shape), 0
    try:
        strides, offset = buffer.get_strides_and_offset()
    except RuntimeError:
        raise LayoutError(f"{buffer} is not strided") from None
    return list(strides), offset


def has_identity_layout(buffer: ir.MemRefType) -> bool:
    """Returns whether the type says that the buffer is packed, from its first element."""
    return buffer.layout == buffer_type(buffer.shape, buffer.element_type).layout


def buffer_type(
    shape: Sequence[int],
    element: ir.Type,
    strides: Sequence[int] | None = None,
    offset: int = 0,
) -> ir.MemRefType:
    """Returns the memref type of these sizes, strides and offset, each DYNAMIC where it is open.

    Without strides the buffer is packed. A packed layout with offset 0 is the identity.
    """
    context = element.context
    if any(size >= _LIMIT for size in shape):
        raise LayoutError(f"the sizes {show_sizes(shape)} reach beyond 64 bits")
    if strides is None and offset == 0:
        return ir.MemRefType.get_unchecked(list(shape), element, context=context)
    packed = packed_strides(shape)
    strides = packed if strides is None else list(strides)
    if offset == 0 and strides == packed and DYNAMIC not in strides:
        return ir.MemRefType.get_unchecked(list(shape), element, context=context)
    if any(stride >= _LIMIT for stride in [*strides, offset]):
        raise LayoutError(f"the strides of {show_sizes(shape)} reach beyond 64 bits")
    layout = ir.StridedLayoutAttr.get(offset, strides, context=context)
    return ir.MemRefType.get_unchecked(list(shape), element, layout, context=context)


def any_layout(buffer: ir.MemRefType) -> ir.MemRefType:
    """Returns the type with the same sizes and every stride and the offset open."""
    return buffer_type(buffer.shape, buffer.element_type, [DYNAMIC] * buffer.rank, DYNAMIC)


def is_packed(buffer: ir.MemRefType) -> bool:
    """Returns whether the type says that the elements lie in row-major order without gaps.

    The stride of a size of 1 does not count, nor any where there is no element.
    """
    shape = buffer.shape
    if has_identity_layout(buffer) or 0 in shape:
        return True
    strides, _ = strides_and_offset(buffer)
    return all(
        size == 1 or (stride == packed and stride != DYNAMIC)
        for size, stride, packed in zip(shape, strides, packed_strides(shape), strict=True)
    )


def is_same_or_more_open(inferred: ir.MemRefType, declared: ir.MemRefType) -> bool:
    """Returns whether `declared` says what `inferred` says, or leaves sizes, strides or the offset
    open.
    """
    if inferred == declared:
        return True
    if inferred.element_type != declared.element_type or inferred.rank != declared.rank:
        return False
    if not _each_same_or_open(inferred.shape, declared.shape):
        return False
    if has_identity_layout(declared):
        return has_identity_layout(normalized(inferred))
    strides, offset = strides_and_offset(inferred)
    declared_strides, declared_offset = strides_and_offset(declared)
    return _each_same_or_open([*strides, offset], [*declared_strides, declared_offset])


def normalized(buffer: ir.MemRefType) -> ir.MemRefType:
    """Returns the type with the identity layout where its strides and offset are just that."""
    if has_identity_layout(buffer):
        return buffer
    strides, offset = strides_and_offset(buffer)
    return buffer_type(buffer.shape, buffer.element_type, strides, offset)


def _each_same_or_open(inferred: Sequence[int], declared: Sequence[int]) -> bool:
    return all(b in (a, DYNAMIC) for a, b in zip(inferred, declared, strict=True))

"""Types of views and results against torch, with some of their sizes and strides left open."""

from collections.abc import Sequence
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hirc.compiler.session import Session
from hirc.dialects.hir.element_rules import element_results, product_results
from hirc.dialects.hir.element_types import ELEMENT_TYPES
from hirc.dialects.hir.kinds import BINARY, REDUCE, UNARY
from hirc.dialects.hir.layout import (
    DYNAMIC,
    LayoutError,
    any_layout,
    buffer_type,
    is_packed,
    is_same_or_more_open,
    packed_strides,
    strides_and_offset,
)
from hirc.dialects.hir.shapes import broadcast_shape, linear_shape, matmul_shape, reduce_shape
from hirc.dialects.hir.views import (
    expand_type,
    permute_type,
    reshape_type,
    select_type,
    slice_size,
    slice_type,
)
from hirc.dialects.mlir import ir

CONTEXT = Session().context
with CONTEXT:
    F32 = ir.F32Type.get()


def parse(text: str) -> ir.MemRefType:
    return ir.MemRefType(ir.Type.parse(text, CONTEXT))


def opened(values: Sequence[int], random: Random, share: float) -> list[int]:
    return [DYNAMIC if random.random() < share else value for value in values]


def random_tensor(random: Random) -> torch.Tensor:
    """A view with gaps, permuted and repeated dims."""
    shape = [random.choice([1, 2, 3, 4, 6]) for _ in range(random.randint(0, 4))]
    tensor = torch.empty([size * random.choice([1, 1, 2]) for size in shape])
    tensor = tensor[tuple(slice(size) for size in shape)]
    if random.random() < 0.4:
        tensor = tensor.permute(random.sample(range(len(shape)), len(shape)))
    if shape and random.random() < 0.2:
        tensor = tensor[:1].expand(3, *tensor.shape[1:])
    return tensor


def type_of(tensor: torch.Tensor, random: Random, share: float) -> ir.MemRefType:
    sizes = opened(tensor.shape, random, share)
    strides = opened(tensor.stride(), random, share)
    (offset,) = opened([int(tensor.storage_offset())], random, share)
    return buffer_type(sizes, F32, strides, offset)


def agrees(found: ir.MemRefType, tensor: torch.Tensor, is_static: bool) -> bool:
    """Whether what the type says is so; strides of a size of 1 do not count."""
    strides, offset = strides_and_offset(found)
    known = [*found.shape, *strides, offset]
    if is_static and DYNAMIC in known:
        return False
    return (
        all(a in (DYNAMIC, b) for a, b in zip(found.shape, tensor.shape, strict=True))
        and offset in (DYNAMIC, tensor.storage_offset())
        and all(
            size == 1 or a in (DYNAMIC, b)
            for size, a, b in zip(tensor.shape, strides, tensor.stride(), strict=True)
        )
    )


RANDOM = st.randoms(use_true_random=False)
SHARE = st.sampled_from([0.0, 0.3, 0.6])


@given(RANDOM, SHARE)
@settings(max_examples=400, deadline=None)
def test_reshape_is_torchs_view(random: Random, share: float) -> None:
    tensor = random_tensor(random)
    sizes: list[int] = []
    left = tensor.numel()
    while left > 1 or (len(sizes) < 6 and random.random() < 0.4):
        size = random.choice([k for k in range(1, left + 1) if left % k == 0])
        sizes.append(size)
        left //= size
    random.shuffle(sizes)
    try:
        view = tensor.view(sizes)
    except RuntimeError:
        view = None
    try:
        found = reshape_type(type_of(tensor, random, share), opened(sizes, random, share))
    except LayoutError:
        assert view is None
        return
    assert view is not None or share
    if view is not None:
        assert agrees(found, view, share == 0)


def test_an_open_size_may_be_1_and_so_no_obstacle_to_a_reshape() -> None:
    between = parse("memref<3x?x4xf32, strided<[4, 100, 1]>>")
    assert reshape_type(between, [12]) == parse("memref<12xf32>")
    outside = parse("memref<3x?x4xf32, strided<[100, 8, 1]>>")
    assert reshape_type(outside, [3, 4]) == parse("memref<3x4xf32, strided<[?, 1]>>")


@given(RANDOM, SHARE)
@settings(max_examples=200, deadline=None)
def test_other_views_are_torchs(random: Random, share: float) -> None:
    tensor = random_tensor(random)
    buffer = type_of(tensor, random, share)
    order = random.sample(range(tensor.dim()), tensor.dim())
    assert agrees(permute_type(buffer, order), tensor.permute(order), share == 0)
    sizes = [random.choice([2, 5]) if size == 1 else size for size in tensor.shape]
    sizes = [3] * random.randint(0, 1) + sizes
    expanded = expand_type(buffer, opened(sizes, random, share))
    # An open size of the type may be 1, so a size that is repeated may leave the stride open.
    assert agrees(expanded, tensor.expand(sizes), share == 0)
    if tensor.dim() == 0:
        return
    axis = random.randrange(tensor.dim())
    index = random.randrange(tensor.shape[axis])
    given_index = None if random.random() < share else index
    selected = select_type(buffer, axis, given_index)
    assert agrees(selected, tensor.select(axis, index), share == 0)
    start, step = random.randrange(tensor.shape[axis]), random.randint(1, 3)
    stop = random.randint(start + 1, tensor.shape[axis])
    view = tensor[(*[slice(None)] * axis, slice(start, stop, step))]
    size = slice_size(buffer.shape[axis], start, stop, step)
    sliced = slice_type(buffer, axis, size, step, None if random.random() < share else start)
    assert agrees(sliced, view, share == 0)


@given(st.lists(st.lists(st.integers(0, 3), max_size=3), min_size=1, max_size=3), RANDOM, SHARE)
@settings(max_examples=200, deadline=None)
def test_shapes_broadcast_as_in_torch(
    shapes: list[list[int]], random: Random, share: float
) -> None:
    try:
        wanted = list(torch.broadcast_shapes(*shapes))
    except RuntimeError:
        wanted = None
    try:
        found = broadcast_shape([opened(shape, random, share) for shape in shapes])
    except LayoutError:
        assert wanted is None
        return
    assert wanted is not None or share
    if wanted is not None:
        assert len(found) == len(wanted)
        assert all(a in (DYNAMIC, b) for a, b in zip(found, wanted, strict=True))
        assert share or DYNAMIC not in found


def test_an_open_size_broadcasts_to_what_is_known() -> None:
    assert broadcast_shape([[DYNAMIC, 1], [4, DYNAMIC]]) == [4, DYNAMIC]
    assert broadcast_shape([[DYNAMIC], [0]]) == [0]


def test_shapes_of_reductions_and_products() -> None:
    assert reduce_shape([2, DYNAMIC, 4], [0, 2]) == [DYNAMIC]
    assert reduce_shape([2, DYNAMIC, 4], [], keep_dims=True) == [1, 1, 1]
    assert matmul_shape([DYNAMIC, 8, 4], [3, 1, 4, 2]) == [3, DYNAMIC, 8, 2]
    assert linear_shape([5, DYNAMIC, 4], [2, 4], [2]) == [5, DYNAMIC, 2]


def test_packed_strides_are_open_beyond_an_open_size() -> None:
    assert packed_strides([2, DYNAMIC, 0, 4]) == [DYNAMIC, 4, 4, 1]


def test_a_packed_layout_is_the_identity() -> None:
    assert buffer_type([8, 4], F32, [4, 1]) == parse("memref<8x4xf32>")
    assert buffer_type([DYNAMIC, 4], F32, [4, 1], 0) == parse("memref<?x4xf32>")
    # Of open strides it is not known whether they are those.
    assert buffer_type([DYNAMIC] * 2, F32, [DYNAMIC, 1]) != parse("memref<?x?xf32>")
    assert any_layout(parse("memref<8xf32>")) == parse("memref<8xf32, strided<[?], offset: ?>>")


@pytest.mark.parametrize(
    ("text", "packed"),
    [
        ("memref<?x?xf32>", True),
        ("memref<1x4xf32, strided<[9, 1], offset: 3>>", True),
        ("memref<0x4xf32, strided<[9, 7]>>", True),
        ("memref<?x?xf32, strided<[?, 1]>>", False),
        ("memref<4x4xf32, strided<[5, 1]>>", False),
    ],
)
def test_is_packed(text: str, packed: bool) -> None:
    assert is_packed(parse(text)) is packed


@pytest.mark.parametrize(
    ("inferred", "declared", "fits"),
    [
        ("memref<8x4xf32>", "memref<?x4xf32>", True),
        ("memref<8x4xf32>", "memref<8x4xf32, strided<[4, ?], offset: ?>>", True),
        ("memref<8x4xf32, strided<[4, 1]>>", "memref<8x4xf32>", True),
        ("memref<?x?xf32>", "memref<?x?xf32, strided<[?, 1]>>", True),
        ("memref<?x?xf32, strided<[?, 1]>>", "memref<?x?xf32>", False),
        ("memref<8x4xf32, strided<[4, 1], offset: ?>>", "memref<8x4xf32>", False),
        ("memref<?x4xf32>", "memref<8x4xf32>", False),
        ("memref<8xf32, strided<[?]>>", "memref<8xf32, strided<[2]>>", False),
        ("memref<8xf32>", "memref<8xf16>", False),
        ("memref<8xf32>", "memref<8x1xf32>", False),
    ],
)
def test_same_or_more_open(inferred: str, declared: str, fits: bool) -> None:
    assert is_same_or_more_open(parse(inferred), parse(declared)) is fits


def test_element_types_of_results() -> None:
    def names(kind: str, table: str, element: str) -> list[str]:
        tables = {"unary": UNARY, "binary": BINARY, "reduce": REDUCE}
        results = element_results(tables[table][kind], ELEMENT_TYPES[element])
        return [result.name for result in results]

    assert names("neg", "unary", "f16") == ["f16"]
    assert names("cast", "unary", "i32")[0] == "i32"
    assert names("lt", "binary", "f16") == ["i1"]
    assert names("argmax", "reduce", "f16") == ["i64"]
    assert names("sum", "reduce", "f16") == ["f16"]
    assert names("sum", "reduce", "ui16") == ["ui16", "ui64", "ui32", "i64", "i32"]
    assert names("sum", "reduce", "i1")[0] == "i64"

    products = {
        element: [result.name for result in product_results(ELEMENT_TYPES[element])]
        for element in ("f64", "f32", "tf32", "bf16", "f8E5M2", "i64", "i8")
    }
    assert products == {
        "f64": ["f64"],
        "f32": ["f32"],
        "tf32": ["tf32", "f32"],
        "bf16": ["bf16", "f32"],
        "f8E5M2": ["f8E5M2", "f32", "f16", "bf16"],
        "i64": ["i64"],
        "i8": ["i8", "i32", "i64"],
    }

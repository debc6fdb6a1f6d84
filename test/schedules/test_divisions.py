"""Quotients of many numbers by one on the CPU device, against torch's division, bit for bit."""

from __future__ import annotations

import pytest
import torch
from host_ir.element_values import DTYPES
from host_ir.libraries import library
from schedules.programs import Fused, reduce_loops

import hirc

_INFINITY = float("inf")
_SPECIAL = (0.0, -0.0, _INFINITY, -_INFINITY, float("nan"))
_BITS = {4: torch.int32, 8: torch.int64}


def _mean(element: str) -> Fused:
    """The means of rows, by their length, of which the host knows the reciprocal."""
    length = f"""
      %c1 = arith.constant 1 : index
      %length = memref.dim %in0, %c1 : memref<?x?x{element}>
      %integer = arith.index_cast %length : index to i64
      %n = arith.sitofp %integer : i64 to {element}"""
    body = reduce_loops("%s", "addf", "%x0", element, 1)
    return Fused(
        f"mean_{element}",
        (f"{element}[r, c]",),
        (f"{element}[r]",),
        lambda x: x.mean(1),
        (),
        loops="r, c",
        reduced="c",
        before=length,
        body=f"{body}%q = arith.divf %s, %n : {element}\nlinalg.yield %q : {element}",
    )


_QUOTIENT = Fused(
    "quotient",
    ("f32[n]", "f32"),
    ("f32[n]",),
    lambda x, k: x / k,
    (),
    loops="n",
    body="%q = arith.divf %x0, %x1 : f32\nlinalg.yield %q : f32",
)


@pytest.fixture(scope="module")
def compiled() -> hirc.Library:
    programs = (_mean("f32"), _mean("f64"), _QUOTIENT)
    texts = [program.text(program.name, None, packed=True) for program in programs]
    return library("\n".join(texts), "--schedules=tuned", "-O0")


def _numbers(count: int, dtype: torch.dtype) -> torch.Tensor:
    """Numbers of all magnitudes: any bits, and special ones."""
    generator = torch.Generator().manual_seed(1)
    size = count * dtype.itemsize
    bits = torch.randint(0, 256, (size,), generator=generator, dtype=torch.uint8)
    least = torch.finfo(dtype)
    special = [*_SPECIAL, least.smallest_normal, least.smallest_normal * -least.eps, least.max]
    numbers = bits.view(dtype)
    numbers[: len(special)] = torch.tensor(special, dtype=dtype)
    return numbers


def _are_same(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Where bits are the same, or both are nan."""
    bits = _BITS[one.itemsize]
    return (one.view(bits) == other.view(bits)) | (one.isnan() & other.isnan())


# By lengths that lanes, a block and batches take.
@pytest.mark.parametrize("length", [1, 3, 7, 127, 1021, 4099, 50257])
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_means(compiled: hirc.Library, element: str, length: int) -> None:
    count = 4096 if length < 1000 else 200
    numbers = _numbers(count, DTYPES[element])
    rows = torch.zeros((count, length), dtype=numbers.dtype)
    rows[:, length // 2] = numbers
    found = torch.empty_like(numbers)
    compiled[f"mean_{element}"](rows, found)
    # A sum of zeros is the positive one.
    expected = (numbers + 0.0) / length
    wrong = ~_are_same(found, expected)
    assert not wrong.any(), (numbers[wrong], found[wrong], expected[wrong])


# Of small, large and subnormal magnitudes, and with mantissas of ones alone.
@pytest.mark.parametrize(
    "by", [3.0, -7.0, 1e-3, 3e38, 1e-38, -1e-44, 3.9999998, 2.0**24 - 1, *_SPECIAL]
)
def test_quotients(compiled: hirc.Library, by: float) -> None:
    numbers = _numbers(2**16, torch.float32)
    found = torch.empty_like(numbers)
    compiled["quotient"](numbers, by, found)
    expected = numbers / torch.tensor(by)
    # What is left of the least numbers, and subnormal quotients, lose bits: they may be neighbours.
    is_small = numbers.abs() < 2.0**-100
    is_small |= (expected.abs() < 2.0**-126) & (expected != 0)
    below = torch.nextafter(expected, torch.tensor(-_INFINITY))
    above = torch.nextafter(expected, torch.tensor(_INFINITY))
    is_near = is_small & (below <= found) & (found <= above)
    wrong = ~(_are_same(found, expected) | is_near)
    assert not wrong.any(), (numbers[wrong], found[wrong], expected[wrong])

"""The inputs and outputs of a row as torch's tensors, and what an output may differ by."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from .drawn import function_of, index_outputs
from .row import Array, Row

_DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "tf32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i8": torch.int8,
}
# Of a result relative to itself: a rounding to its type, or some in f32.
_RELATIVE = {"f64": 1e-13, "f32": 2e-5, "tf32": 1e-3, "f16": 2.0**-10, "bf16": 2.0**-8}
# Of one step of a sum of values around one.
_STEP = {"f64": 2.0**-52, "f32": 2.0**-23, "tf32": 2.0**-17, "f16": 2.0**-23, "bf16": 2.0**-23}
_SUMS = ("row_sum", "column_sum", "full_sum", "middle_sum", "cumsum", "matmul", "batch_matmul")
# Of the root of how many values are added. A thread adds a part of a sum, and all of a product.
_SUM_STEPS, _PRODUCT_STEPS = 256, 1024
# These compute nothing.
_COPIES = ("transpose", "embedding", "argmax", "concatenate", "concatenate_rows", "pad", "max_pool")
# Of drawn operations: roundings of the root of how many values are added, and the least of these.
_ADDED_STEPS, _FEW_ADDED = 8, 16
# What of the root mean square of sums of products they may be off by if factors are rounded to
# tf32: each product by 0.4 2^-11 of it (that of two roundings), and the farthest of 10^8 sums by
# six times as much as they are on average.
_TF32 = 2.0**-9
_RANGE = 2.0
_SEED = 20
_CHUNK = 2**26


def inputs_of(row: Row, device: str) -> list[Tensor]:
    """Random inputs, the same in every run."""
    generator = torch.Generator(device=device)
    generator.manual_seed(_SEED)
    made: list[Tensor] = []
    for array in row.inputs:
        tensor = empty(array, device)
        if array.is_permutation:
            order = torch.randperm(array.below, generator=generator, device=device)
            made.append(tensor.copy_(order[: array.sizes[0]]))
        elif array.below:
            made.append(tensor.random_(0, array.below, generator=generator))
        else:
            made.append(tensor.uniform_(-_RANGE, _RANGE, generator=generator))
    return made


def empty(array: Array, device: str) -> Tensor:
    return torch.empty(array.sizes, dtype=_DTYPES[array.element], device=device)


def poison(out: Tensor) -> None:
    """Fills an output with what no program gives, so that what is left unwritten shows."""
    out.fill_(math.nan if out.dtype.is_floating_point else torch.iinfo(out.dtype).min)


def difference(row: Row, got: Tensor, expected: Tensor) -> str | None:
    """Returns what of a result is wrong, or None."""
    relative, absolute = _tolerance(row)
    flat, wanted = got.reshape(-1), expected.reshape(-1)
    count, first = 0, ""
    for start in range(0, flat.numel(), _CHUNK):
        ours, right = flat[start : start + _CHUNK], wanted[start : start + _CHUNK]
        error = (ours.to(right.dtype) - right).abs()
        # Not `error > ...`, which a nan would pass.
        wrong = ~(error <= absolute + relative * right.abs())
        number = int(wrong.sum())
        if number and not first:
            place = int(wrong.nonzero()[0])
            first = (
                f"element {start + place} is {ours[place].item():g}, not {right[place].item():g}"
            )
        count += number
    return f"{count} of {flat.numel()} elements are wrong: {first}" if count else None


def differences(
    row: Row, inputs: Sequence[Tensor], outs: Sequence[Tensor], expected: Sequence[Tensor]
) -> str | None:
    """Returns what of the results of a drawn operation is wrong, or None.

    A result may be as far from what is right as three times the farthest of torch's own, in the
    same types, or some roundings of its type; what it sums or multiplies up may be rounded besides,
    in f32 or f64, as torch takes the terms in another order. Where torch may round factors to tf32,
    hirc may, whether torch does or not. Rounding to an integer may go the other way.
    """
    peers = function_of(row)(*inputs)
    first = inputs[0]
    if "view" in row.parameters:
        first = first.permute(*row.parameters["view"])
    places = index_outputs(row)
    for place, (got, right, peer) in enumerate(zip(outs, expected, peers, strict=True)):
        if place in places:
            axis = places[place]
            index = got.to(torch.int64).clamp(0, first.shape[axis] - 1).unsqueeze(axis)
            right_index = right.unsqueeze(axis)
            if not torch.equal(first.gather(axis, index), first.gather(axis, right_index)):
                return f"output {place} has other places"
            continue
        terms = first.numel() / max(right.numel(), 1)
        if row.operation == "scan":
            terms = first.shape[row.parameters["axis"]]
        elif row.flops:
            terms = row.flops / max(2 * right.numel(), 1)
        added = math.sqrt(max(terms, _FEW_ADDED))
        rounds = torch.backends.cudnn.allow_tf32 and row.flops
        factors = _TF32 if rounds and got.dtype == torch.float32 else 0.0
        said = _difference_of(got, right, peer, added, factors)
        if said is not None:
            return f"output {place}: {said}"
    return None


def _difference_of(
    got: Tensor, right: Tensor, peer: Tensor, added: float, factors: float
) -> str | None:
    if tuple(got.shape) != tuple(right.shape):
        return f"its sizes are {tuple(got.shape)}, not {tuple(right.shape)}"
    if not got.dtype.is_floating_point:
        apart = (got.to(torch.int64) - right.to(torch.int64)).abs()
        peers = (peer.to(torch.int64) - right.to(torch.int64)).abs()
        most = 1 if int(peers.max()) else 0
        # Where torch's own roundings differ, twice as many may, and one in a hundred besides.
        other = 2 * int((peers > 0).sum()) + apart.numel() // 100
        wrong = int((apart > most).sum()) + max(int((apart > 0).sum()) - other, 0)
        return f"{wrong} of {apart.numel()} integers are wrong" if wrong else None
    step = 4 * torch.finfo(got.dtype).eps
    apart = (got.double() - right).abs()
    sums = _ADDED_STEPS * added * min(torch.finfo(got.dtype).eps, _STEP["f32"])
    allowed = 3 * (peer.double() - right).abs().max() + step * right.abs()
    allowed = allowed + sums * right.abs().max().clamp(min=1.0)
    allowed = allowed + factors * right.square().mean().sqrt()
    is_right = (apart <= allowed) | (got.double() == right) | (got.isnan() & right.isnan())
    wrong = int((~is_right).sum())
    if not wrong:
        return None
    place = int((~is_right).reshape(-1).nonzero()[0])
    ours, wanted = got.reshape(-1)[place].item(), right.reshape(-1)[place].item()
    return (
        f"{wrong} of {got.numel()} elements are wrong: element {place} is {ours:g}, not {wanted:g}"
    )


def _tolerance(row: Row) -> tuple[float, float]:
    """Returns what a result may differ by: relative to itself, and besides."""
    if row.operation in _COPIES:
        return 0.0, 0.0
    relative = _RELATIVE[row.element]
    if row.operation in _SUMS:
        steps = _PRODUCT_STEPS if row.flops else _SUM_STEPS
        return relative, steps * _STEP[row.element] * math.sqrt(_added(row))
    # A softmax's results are small; the others' come from values around one.
    return relative, 1e-10 if row.operation == "softmax" else 4e-6


def _added(row: Row) -> int:
    """Returns how many values an element of a sum is made of."""
    first = row.inputs[0].sizes
    if row.flops or row.operation == "cumsum":
        return first[-1]
    return math.prod(first) // max(math.prod(row.outputs[0].sizes), 1)

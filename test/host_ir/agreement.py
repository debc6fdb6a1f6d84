"""When two results are the same, to the precision of their element type."""

from __future__ import annotations

from collections.abc import Sequence

import torch

# The distance from one number to the next, relative to it; results may be two of them apart, as
# functions of libdevice and of the C library are.
_STEP = {
    "f64": 2.0**-52,
    "f32": 2.0**-23,
    "tf32": 2.0**-10,
    "f16": 2.0**-10,
    "bf16": 2.0**-7,
    "f8E4M3FN": 2.0**-3,
    "f8E5M2": 2.0**-2,
}
# The least number that is not subnormal.
_LEAST = {
    "f64": 2.0**-1022,
    "f32": 2.0**-126,
    "tf32": 2.0**-126,
    "f16": 2.0**-14,
    "bf16": 2.0**-126,
    "f8E4M3FN": 2.0**-6,
    "f8E5M2": 2.0**-14,
}


def difference(
    got: torch.Tensor, wanted: torch.Tensor, element: str, *, scale: torch.Tensor | float = 0.0
) -> str | None:
    """What differs, in words; None where the two agree.

    `scale` is what rounding errors are relative to beside the result itself: the sum of the
    magnitudes that were added, for one.
    """
    if got.shape != wanted.shape:
        return f"shape {tuple(got.shape)}, expected {tuple(wanted.shape)}"
    if element not in _STEP:
        return None if _bytes(got) == _bytes(wanted) else f"{got} differs from {wanted}"
    one, other = got.to(torch.float64), wanted.to(torch.float64)
    step = max(_STEP[element], 2.0**-52)
    steps = 2 if element in ("f16", "bf16", "f8E4M3FN", "f8E5M2", "tf32") else 8
    bound = steps * step * torch.maximum(other.abs(), torch.as_tensor(scale, dtype=torch.float64))
    close = (one - other).abs() <= bound + steps * step * _LEAST[element]
    same = (one == other) | (one.isnan() & other.isnan()) | close
    if bool(same.all()):
        return None
    places = (~same).nonzero()[:3].tolist()
    shown = ", ".join(
        f"at {place}: {one[tuple(place)].item()!r}, expected {other[tuple(place)].item()!r}"
        for place in places
    )
    return f"{int((~same).sum())} of {same.numel()} differ: {shown}"


def error_scale(
    program: str, op: str, inputs: Sequence[torch.Tensor], result: torch.Tensor
) -> torch.Tensor | float:
    """What errors are relative to: sums of magnitudes; of gelu, 1 and an error function."""
    if "gelu" in program:
        return inputs[0].to(torch.float64).abs()
    if op not in ("reduce", "matmul", "linear"):
        return 0.0
    numbers = [item.to(torch.float64).nan_to_num(0.0, 0.0, 0.0) for item in inputs]
    largest = [float(item.abs().max()) if item.numel() else 0.0 for item in numbers]
    if op == "reduce":
        count = numbers[0].numel() / max(result.numel(), 1)
        # Each addition rounds by up to half a step, of equal numbers all to one side. In f64 the
        # interpreter rounds too, and `difference` takes 8 steps: 16 halves.
        is_rounded_alike = result.dtype == torch.float64 and ("sum" in program or "mean" in program)
        return largest[0] * count * (max(count / 16, 1.0) if is_rounded_alike else 1.0)
    return (largest[0] * largest[1] + 4.0) * numbers[0].shape[-1]


def _bytes(numbers: torch.Tensor) -> bytes:
    """The elements' bytes, in row-major order."""
    return numbers.numpy().tobytes()

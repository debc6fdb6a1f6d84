"""Runs what matmul_on_gpu.py built on this machine's GPU: checks it against f64, then times it.

Prints a line for each library and each product timed; the exit status is 1 where anything is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import torch

HERE = Path(__file__).parent.resolve()
sys.path.insert(0, str(HERE))

from host_ir.matmul_programs import (  # noqa: E402
    ACTIVATIONS,
    EINSUMS,
    LAYERS,
    PAIRS,
    TIMED,
    name_of,
)

import hirc  # noqa: E402

_DTYPES = {
    "f32": torch.float32,
    "tf32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
}
# Errors of a sum of k terms of about 1, in the type it is summed in, and of rounding the result.
_SUMMED = {"f32": 2**-22, "tf32": 2**-22, "f64": 2**-50, "f16": 2**-22, "bf16": 2**-22}
_ROUNDED = {"f32": 2**-23, "tf32": 2**-10, "f64": 2**-52, "f16": 2**-10, "bf16": 2**-7}
_SIZES = (1, 8, 17, 130)
# Calls that are timed together, so that the device has the next one when it ends one.
_FOLLOWING = 10


def numbers(*shape: int, element: str) -> torch.Tensor:
    made = torch.randn(shape, device="cuda", dtype=torch.float64).to(_DTYPES[element])
    if element == "tf32":
        made = (made.view(torch.int32) & -8192).view(torch.float32)
    return made


def agrees(got: torch.Tensor, wanted: torch.Tensor, terms: int, element: str, result: str) -> bool:
    error = (got.double() - wanted).abs()
    # Partial sums of n random products grow as the root of n, and so do their n roundings together.
    limit = _ROUNDED[result] * wanted.abs() + 8 * _SUMMED[element] * (terms + 1)
    return bool((error <= limit).all()) and got.shape == wanted.shape


class Report:
    """What was checked, and what of it was wrong."""

    def __init__(self) -> None:
        self.wrong = 0
        self._count = self._failed = 0

    def check(self, is_right: bool, what: str) -> None:
        self._count += 1
        if not is_right:
            self._failed += 1
            print(f"  wrong: {what}", flush=True)

    def end(self, name: str) -> None:
        print(f"{name}: {self._count} results, {self._failed} wrong", flush=True)
        self.wrong += self._failed
        self._count = self._failed = 0


def check_forms(report: Report) -> None:
    library = hirc.load(HERE / "forms.so")
    for einsum, (element, result) in product(EINSUMS, PAIRS):
        texts = einsum.partition("->")[0].split(",")
        letters = sorted(set("".join(texts)))
        for turn in range(len(_SIZES) + 1):
            sizes = {
                letter: _SIZES[(turn + place) % len(_SIZES)] for place, letter in enumerate(letters)
            }
            if turn == len(_SIZES):
                sizes[letters[-1]] = 0
            x, y = (numbers(*(sizes[letter] for letter in text), element=element) for text in texts)
            got = getattr(library, name_of(einsum, element, result))(x, y)
            wanted = torch.einsum(einsum, x.double(), y.double())
            terms = x.numel()
            report.check(
                agrees(got, wanted, terms, element, result),
                f"{einsum} {element} to {result}, {sizes}",
            )
    for element, result in PAIRS:
        x, y = numbers(65, 130, element=element), numbers(130, 72, element=element)
        z = numbers(65, 72, element=result)
        run = getattr(library, name_of("mk,kn->mn", element, result, accumulates=True))
        wanted = x.double() @ y.double() + z.double()
        report.check(agrees(run(x, y, z), wanted, 130, element, result), f"added {element}")
        # A result that is transposed, and operands whose first elements are not aligned.
        out = torch.empty(72, 65, device="cuda", dtype=_DTYPES[result]).t()
        odd = numbers(65 * 130 + 1, element=element)[1:].view(65, 130)
        run = getattr(library, name_of("mk,kn->mn", element, result))
        run(odd, y, out=out)
        wanted = odd.double() @ y.double()
        report.check(agrees(out, wanted, 130, element, result), f"transposed {element}")
    report.end("forms")


def check_host_ir(report: Report, element: str) -> None:
    library = hirc.load(HERE / f"host_ir_{element}.so")
    for batch, rows in product((1, 3), (1, 33)):
        x, y = numbers(3, rows, 64, element=element), numbers(batch, 64, 24, element=element)
        wanted = x.double() @ y.double()
        report.check(agrees(library.matmul(x, y), wanted, 64, element, element), "matmul")
        w, b = numbers(40, 64, element=element), numbers(40, element=element)
        wanted = torch.nn.functional.linear(x.double(), w.double(), b.double())
        report.check(agrees(library.linear(x, w, b), wanted, 64, element, element), "linear")
        got = library.linear(x[..., :0].contiguous(), w[:, :0].contiguous(), b)
        report.check(agrees(got, b.double().expand(3, rows, 40), 1, element, element), "bias")
    report.end(f"host_ir_{element}")


def check_layers(report: Report, element: str, result: str) -> None:
    library = hirc.load(HERE / f"layer_{element}_{result}.so")
    functional = torch.nn.functional
    apply: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "plain": lambda x: x,
        "relu": torch.relu,
        "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
        "gelu_erf": functional.gelu,
    }
    for activation, size in product(ACTIVATIONS, _SIZES):
        x, w = numbers(size, 64, element=element), numbers(48, 64, element=element)
        b = numbers(48, element=result)
        sums = functional.linear(x.double(), w.double(), b.double())
        got = getattr(library, activation)(x, w, b)
        # The library's tanh is approximate.
        wanted, error = apply[activation](sums), (got.double() - apply[activation](sums)).abs()
        limit = _ROUNDED[result] * wanted.abs() + 2**-10
        report.check(bool((error <= limit).all()), f"{activation} of {size} rows")
    report.end(f"layer_{element}_{result}")


def milliseconds(call: Callable[[], object]) -> float:
    """The median time of a call, of some that follow one another."""
    for _ in range(5):
        call()
    times: list[float] = []
    for _ in range(15):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(_FOLLOWING):
            call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / _FOLLOWING)
    return sorted(times)[len(times) // 2]


def time_product(report: Report, element: str, size: int) -> None:
    run = getattr(hirc.load(HERE / "timed.so"), f"{element}_{size}")
    x, y = numbers(size, size, element=element), numbers(size, size, element=element)
    out = torch.empty(size, size, device="cuda", dtype=_DTYPES[element])
    run(x, y, out=out)
    rows = torch.arange(0, size, max(1, size // 64), device="cuda")
    wanted = x[rows].double() @ y.double()
    report.check(agrees(out[rows], wanted, size, element, element), f"{element} {size}")
    torch.backends.cuda.matmul.allow_tf32 = element == "tf32"
    ours, theirs = (
        milliseconds(lambda: run(x, y, out=out)),
        milliseconds(lambda: torch.matmul(x, y, out=out)),
    )
    flops = 2 * size**3 / 1e9
    print(
        f"{element} {size}: {flops / ours:.0f} TFLOP/s, torch {flops / theirs:.0f}, "
        f"ratio {theirs / ours:.3f}",
        flush=True,
    )


def main() -> int:
    print(torch.cuda.get_device_name(0))
    torch.manual_seed(0)
    report = Report()
    check_forms(report)
    for element in _DTYPES:
        check_host_ir(report, element)
    for each in LAYERS:
        check_layers(report, *each)
    for each in TIMED:
        time_product(report, *each)
    report.end("timed")
    print("wrong:", report.wrong)
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())

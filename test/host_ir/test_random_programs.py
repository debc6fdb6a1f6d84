"""Random whole programs: compiled and interpreted they give the same, and free what they took."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
import torch
from host_ir.agreement import difference
from host_ir.element_values import DTYPES, Layout, copy_bytes, place, values
from host_ir.libraries import library
from host_ir.random_programs import Input, Writer

import hirc
from support.fake_library import Fake
from support.host_ir import parsed

# What of the support library counts memory, for this library to export.
_COUNTING = """
llvm.func @hirc_count_memory(i32)
llvm.func @hirc_memory_counts(!llvm.ptr)
llvm.func @count_memory(%on: i32) {
  llvm.call @hirc_count_memory(%on) : (i32) -> ()
  llvm.return
}
llvm.func @memory_counts(%counts: !llvm.ptr) {
  llvm.call @hirc_memory_counts(%counts) : (!llvm.ptr) -> ()
  llvm.return
}
"""


class _Counts(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_int64)
        for name in ("live_bytes", "peak_bytes", "allocations", "deallocations")
    ]


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_agree(fake: Fake, seed: int) -> None:
    """Products are kernels' in the first two, the library's in the others."""
    random = Random(seed)
    writer = Writer(random, hirc.module(), {"n": random.randint(1, 4), "m": random.choice((0, 3))})
    for _ in range(6):
        writer.write()
    text = writer.module.text
    end = text.rindex("\n}")
    # Optimizing takes most of the time to build, and tuned schedules make ten times the kernels;
    # what either does is much the same in each.
    flags = (["--schedules=general"], ["-O0", "--schedules=tuned"], ["-O0"], ["-O0"])[seed]
    make = fake.library if seed > 1 else library
    compiled = make(text[:end] + _COUNTING + text[end:], *flags)
    module = parsed(text)
    for written in writer.written:
        inputs = [_value(random, wanted) for wanted in written.inputs]
        given = [_copied(value) for value in inputs]
        name = written.program.name
        wanted = hirc.interpret(module, inputs, entry=name)
        out = [
            _room(random, value)
            if number in written.free_outputs and random.random() < 0.5
            else None
            for number, value in enumerate(wanted)
        ]
        compiled.loaded.count_memory(1)
        got = compiled[name](*given, out=out)
        got = got if isinstance(got, tuple) else (got,)
        _agree(f"{name}, output", got, wanted)
        _agree(f"{name}, input", given, inputs)
        del got
        counts = _Counts()
        compiled.loaded.memory_counts(ctypes.byref(counts))
        compiled.loaded.count_memory(0)
        assert counts.live_bytes == 0, name


def _agree(what: str, got: Sequence[Any], wanted: Sequence[Any]) -> None:
    for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
        wrong = _wrong(one, other)
        assert wrong is None, f"{what} {number}: {wrong}"


def _value(random: Random, wanted: Input) -> Any:
    if wanted.sizes is None:
        return random.randint(0, 3)
    count = 1
    for size in wanted.sizes:
        count *= size
    numbers = values(count, wanted.element, random.randrange(1000), is_small=True)
    return numbers.reshape(wanted.sizes)


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _room(random: Random, value: torch.Tensor) -> torch.Tensor:
    order = tuple(random.sample(range(value.dim()), value.dim()))
    room = place(tuple(value.shape), Layout(order, random.choice((1, 2)), 1), value.dtype)
    copy_bytes(room, torch.ones_like(room))
    return room


def _wrong(got: Any, wanted: Any) -> str | None:
    if not isinstance(wanted, torch.Tensor):
        return None if got == wanted else f"{got}, expected {wanted}"
    element = next(name for name, dtype in DTYPES.items() if dtype == wanted.dtype)
    largest = float(wanted.to(torch.float64).abs().max()) if wanted.numel() else 0.0
    return difference(got, wanted, element, scale=largest)

"""Checks programs compiled for the CPU device against torch in float64.

    SUITE = Suite([Fused("softmax", ...), ...])

    @pytest.mark.parametrize("name", SUITE.names)
    def test_numbers(name: str) -> None:
        SUITE.check(name)

    def test_checks_are_silent() -> None:
        SUITE.check_silence()

A suite's programs are compiled into one library, when the first of them is run. Each program is run
for each of its sizes, packed, and with the first of its sizes that have elements in all layouts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from host_ir.element_values import DTYPES, values
from host_ir.libraries import library
from schedules.memory import LAYOUTS, OFFSET, PACKED, Guarded, Layout
from schedules.programs import Program, Sizes, Spec, Written
from schedules.run_calls import call, run_calls

import hirc

# Of results as they are stored, and of the type they are computed in.
_STORED_ERRORS = {
    torch.float64: 1e-13,
    torch.float32: 4e-6,
    torch.float16: 1.2e-3,
    torch.bfloat16: 9e-3,
    torch.float8_e4m3fn: 0.07,
    torch.float8_e5m2: 0.13,
}
_F64_ERROR, _F32_ERROR = 1e-13, 4e-6
_CHECKS = "--check=race,memory"
# Checked programs take memory of the device, or what is registered with it.
_REGISTER = """
define i32 @register_memory(ptr %start, i64 %bytes) {
  %status = call i32 @cudaHostRegister(ptr %start, i64 %bytes, i32 0)
  ret i32 %status
}
declare i32 @cudaHostRegister(ptr, i64, i32)
"""


# Programs have sizes in common, and are run in several layouts.
@lru_cache(maxsize=64)
def _values(count: int, element: str, number: int, is_small: bool) -> torch.Tensor:
    return values(count, element, number, is_small=is_small)


@dataclass(frozen=True)
class Run:
    """A program of the library, called once."""

    program: Program
    compiled_name: str
    sizes: Sizes
    layout: Layout = PACKED
    is_special: bool = False

    def __str__(self) -> str:
        special = ", special values" if self.is_special else ""
        return f"{self.compiled_name} with {dict(self.sizes)}, {self.layout.name}{special}"

    @property
    def returns(self) -> bool:
        """Whether the program returns its outputs."""
        return isinstance(self.program, Written)

    def inputs(self) -> list[Any]:
        """Tensors and numbers, the same in every call."""
        return [
            _scalar(spec) if spec.is_scalar else self._input(number, spec)
            for number, spec in enumerate(self.program.given)
        ]

    def _input(self, number: int, spec: Spec) -> torch.Tensor:
        shape, dtype = spec.shape(self.sizes), DTYPES[spec.element]
        room = Guarded(shape, dtype, self.layout)
        below = self.program.ranges.get(number)
        count = room.tensor.numel()
        if below is not None:
            most = self.sizes[below] if isinstance(below, str) else below
            generator = torch.Generator().manual_seed(number)
            numbers = torch.randint(0, max(most, 1), (count,), generator=generator).to(dtype)
        else:
            numbers = _values(count, spec.element, number, not self.is_special)
        return room.set(numbers.reshape(shape))

    def rooms(self) -> list[Guarded]:
        """Memory for the outputs."""
        layout = PACKED if self.layout.is_expanded else self.layout
        return [
            Guarded(spec.shape(self.sizes), DTYPES[spec.element], layout)
            for spec in self.program.results
        ]

    def compare(
        self, inputs: Sequence[Any], rooms: Sequence[Guarded], *, on_gpu: bool = False
    ) -> None:
        """Fails where an output differs from the reference."""
        tolerance = self.program.tolerance * (self.program.tolerance_on_gpu if on_gpu else 1.0)
        expected = self.program.wanted([_widened(value) for value in inputs])
        for number, (room, each) in enumerate(zip(rooms, expected, strict=True)):
            assert room.is_intact(), f"{self}: wrote beside output {number}"
            wrong = self._difference(room.tensor, each, tolerance)
            assert wrong is None, f"{self}: output {number}: {wrong}"

    def _difference(self, got: torch.Tensor, wanted: torch.Tensor, tolerance: float) -> str | None:
        if got.shape != wanted.shape:
            return f"the reference has shape {tuple(wanted.shape)}, not {tuple(got.shape)}"
        if not got.dtype.is_floating_point:
            same = got == wanted.to(got.dtype)
            return None if bool(same.all()) else _first_places(same, got, wanted)
        one, other = got.double(), wanted.double()
        finite = other[other.isfinite()].abs()
        greatest = float(finite.max()) if finite.numel() else 0.0
        computed = _F64_ERROR if got.dtype == torch.float64 else _F32_ERROR
        bound = _STORED_ERRORS[got.dtype] * other.abs() + computed * (
            greatest + self.program.magnitude
        )
        close = (one - other).abs() <= tolerance * bound
        limit = torch.finfo(got.dtype).max
        overflown = (other.abs() > limit * 0.999) & (one.abs() >= limit) & (one * other > 0)
        same = close | (one == other) | (one.isnan() & other.isnan()) | overflown
        return None if bool(same.all()) else _first_places(same, one, other)


class Suite:
    """Programs that are compiled together."""

    def __init__(
        self, programs: Sequence[Program], *, floor: bool = False, flags: Sequence[str] = ("-O0",)
    ) -> None:
        """`floor` leaves the special schedules out, so that the general ones take everything.

        `flags` are further ones of hirc; optimisation would take most of a suite's time.
        """
        schedules = "--schedules=general" if floor else "--schedules=tuned"
        # hirc's flags for these programs, but for how they are optimised.
        self.flags = [schedules, *(flag for flag in flags if not flag.startswith("-O"))]
        self._optimized = [flag for flag in flags if flag.startswith("-O")]
        self._programs = {program.name: program for program in programs}
        assert len(self._programs) == len(programs), "two programs have the same name"

    @property
    def names(self) -> list[str]:
        return list(self._programs)

    def program(self, name: str) -> Program:
        """The program of a name."""
        return self._programs[name]

    def check(self, name: str) -> None:
        """Runs one program in every way and compares what it gives."""
        compiled = self._library(self._programs.values())
        for run in self.runs(name):
            inputs, rooms = run.inputs(), run.rooms()
            call(compiled, run.compiled_name, inputs, [each.tensor for each in rooms], run.returns)
            run.compare(inputs, rooms)

    def runs(self, name: str) -> Iterator[Run]:
        """Every way in which one program is run."""
        return _runs(self._programs[name])

    @property
    def source(self) -> str:
        """The programs' text."""
        return "\n".join(map(_text, self._programs.values()))

    def check_silence(
        self,
        names: Sequence[str] = (),
        sizes_each: int = 2,
        closed: Sequence[str] = (),
        *,
        aligned: bool = True,
    ) -> None:
        """Runs programs in a process of their own with race and memory checks, which end it.

        Each is run with the last `sizes_each` of its sizes, and its static ones; those `closed`
        with static ones alone. Data of those lies one element past an aligned address, and at one
        too if it is to be `aligned`, for which there are other kernels.
        """
        chosen = [self._programs[name] for name in names or self.names]
        chosen += [replace(self._programs[name], sizes=()) for name in closed]
        runs = [run for program in chosen for run in _silent_runs(program, sizes_each, aligned)]
        calls = [
            (run.compiled_name, run.inputs(), [room.tensor for room in run.rooms()], run.returns)
            for run in runs
        ]
        with tempfile.TemporaryDirectory() as folder:
            listed, register = Path(folder) / "calls.pt", Path(folder) / "register.ll"
            torch.save(calls, listed)
            register.write_text(_REGISTER)
            checked = self._library(chosen, _CHECKS, str(register))
            ended = run_calls(checked.path, listed, Path(folder))
        assert (ended.status, ended.errors) == (0, ""), f"{ended.output}\n{ended.errors}"

    def _library(self, programs: Iterable[Program], *flags: str) -> hirc.Library:
        return library("\n".join(map(_text, programs)), *self.flags, *self._optimized, *flags)


@dataclass(frozen=True)
class _Version:
    """A way in which a program is compiled."""

    name: str
    sizes: Sizes | None = None
    packed: bool = True


def _text(program: Program) -> str:
    """The program's versions."""
    return "\n".join(
        program.text(version.name, version.sizes, packed=version.packed)
        for version in _versions(program)
    )


def _versions(program: Program) -> list[_Version]:
    if isinstance(program, Written):
        return [_Version(program.name)]
    name = program.name
    open_ = [_Version(name), _Version(f"{name}_strided", packed=False)] if program.sizes else []
    return [
        *open_,
        *(_Version(f"{name}_fixed{number}", sizes) for number, sizes in enumerate(program.fixed)),
    ]


def _runs(program: Program) -> Iterator[Run]:
    """Every way in which a program is run."""
    for sizes in program.sizes:
        yield Run(program, program.name, sizes)
        if program.special:
            yield Run(program, program.name, sizes, is_special=True)
    some = next((sizes for sizes in program.sizes if min(sizes.values()) > 1), None)
    some = program.sizes[0] if some is None and program.sizes else some
    for version in _versions(program):
        if version.sizes is not None:
            yield Run(program, version.name, version.sizes)
            yield Run(program, version.name, version.sizes, OFFSET)
            if program.special and not program.sizes:
                yield Run(program, version.name, version.sizes, is_special=True)
        elif some is not None:
            for layout in (OFFSET,) if version.packed else LAYOUTS:
                yield Run(program, version.name, some, layout)


def _silent_runs(program: Program, sizes_each: int, aligned: bool) -> Iterator[Run]:
    """The ways in which a program is run with checks."""
    for version in _versions(program):
        if version.sizes is not None:
            for layout in (PACKED, OFFSET) if aligned else (OFFSET,):
                yield Run(program, version.name, version.sizes, layout)
        else:
            layout = PACKED if version.packed else LAYOUTS[-2]
            for sizes in program.sizes[-sizes_each:]:
                yield Run(program, version.name, sizes, layout)


def _scalar(spec: Spec) -> int | float:
    return 1.5 if spec.element.startswith(("f", "bf")) else 3


def _widened(value: Any) -> Any:
    is_float = isinstance(value, torch.Tensor) and value.dtype.is_floating_point
    return value.double() if is_float else value


def _first_places(same: torch.Tensor, got: torch.Tensor, wanted: torch.Tensor) -> str:
    """The first few elements that differ."""
    places = [tuple(place) for place in (~same).nonzero()[:4].tolist()]
    shown = (f"at {place} {got[place].item()!r}, not {wanted[place].item()!r}" for place in places)
    return f"{int((~same).sum())} of {same.numel()} elements differ: {'; '.join(shown)}"

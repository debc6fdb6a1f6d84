"""What in_process_on_gpu.py compiles into the process: groups of programs, and calls of them.

Results are compared with the interpreter's on the host, or with torch's in float64.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest
import torch
from host_ir.agreement import difference, error_scale
from host_ir.cases import Case, cases
from host_ir.catalog import HostProgram, host_programs
from host_ir.element_values import DTYPES, Layout, place
from host_ir.matmul_programs import EINSUMS, PAIRS, contraction, name_of
from host_ir.operations import programs
from host_ir.program_texts import Program, module_text
from host_ir.test_programs import copies, inputs_given, outputs_of
from schedules.harness import Run, Suite
from schedules.run_calls import call
from schedules.suites_on_gpu import find_suites

import hirc
from hirc.compiler.interpreter import Interpreter
from support.host_ir import parsed

_Item = TypeVar("_Item")

# Programs that are compiled together.
_TOGETHER = {"host-ir": 10, "products": 8, "schedules": 2}
_CALLS = 3
# Rounding of a sum's terms, and of results; as run_matmul_on_gpu.py has them.
_SUMMED = {"f64": 2**-50}
_ROUNDED = {"f32": 2**-23, "f64": 2**-52, "f16": 2**-10, "bf16": 2**-7}
_SIZES = (1, 8, 17, 130)
# What `.npy` files hold.
_FILED = ("f64", "f32", "f16", "i64", "i32", "i16", "i8", "ui8")


class Check(Protocol):
    """A call of a program: what it gives, in the host's memory, and what is wrong with that."""

    name: str

    def give(self, library: hirc.Library, device: str) -> list[torch.Tensor]: ...

    def wrong(self, outputs: list[torch.Tensor]) -> str | None: ...


@dataclass(frozen=True)
class Command:
    """An executable of a group: its program, the arguments of its command, and its outputs."""

    text: str
    entry: str
    inputs: tuple[Any, ...]  # tensors, or as its command takes them
    outputs: int
    wrong: Callable[[list[torch.Tensor]], str | None]


@dataclass(frozen=True)
class Group:
    """Programs that are compiled together, by name; `open` makes their text, flags and calls."""

    kind: str
    name: str
    count: int
    open: Callable[[], Opened]


@dataclass(frozen=True)
class Opened:
    """The programs of a group, and how they are called."""

    text: str
    flags: tuple[str, ...]
    checks: Sequence[Check]
    command: Command | None = None


def groups(seed: int, count: int) -> list[Group]:
    """Every program of the catalogue, and others that are drawn: `count` programs together."""
    first = [_of_catalogue(program) for program in host_programs()]
    others = [*_host_ir(seed), *_products(seed), *_schedules(seed)]
    random.Random(seed).shuffle(others)
    # Of each kind in turn, as there are many more of some.
    kinds = {kind: iter([each for each in others if each.kind == kind]) for kind in _TOGETHER}
    chosen, taken = first, sum(each.count for each in first)
    while kinds and taken < count:
        for kind in list(kinds):
            group = next(kinds[kind], None)
            if group is None:
                del kinds[kind]
            elif taken < count:
                chosen.append(group)
                taken += group.count
    return chosen


# --- the programs of test/host_ir/programs -------------------------------------------------------


@dataclass
class _CatalogueCheck:
    name: str
    inputs: list[Any]
    expected: list[torch.Tensor]

    def give(self, library: hirc.Library, device: str) -> list[torch.Tensor]:
        given = [
            each.to(device) if isinstance(each, torch.Tensor) else each
            for each in copies(self.inputs)
        ]
        outputs = library["main"](*given)
        every = outputs if isinstance(outputs, tuple) else (outputs,)
        return [torch.as_tensor(each).cpu().clone() for each in every]

    def wrong(self, outputs: list[torch.Tensor]) -> str | None:
        if len(outputs) != len(self.expected):
            return f"{len(outputs)} outputs, expected {len(self.expected)}"
        for got, wanted in zip(outputs, self.expected, strict=True):
            if got.dtype != wanted.dtype:
                return f"{got.dtype}, expected {wanted.dtype}"
            element = next(name for name, dtype in DTYPES.items() if dtype == wanted.dtype)
            scale = float(wanted.to(torch.float64).abs().max())
            found = difference(got, wanted, element, scale=scale)
            if found is not None:
                return found
        return None


def _of_catalogue(program: HostProgram) -> Group:
    def opened() -> Opened:
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
            given = inputs_given(patch)
            expected = outputs_of(None, program, Path(folder) / "outputs")
        check = _CatalogueCheck(program.name, given[0], expected)
        command = Command(program.text, "main", program.inputs, len(expected), check.wrong)
        return Opened(program.text, (), [check], command)

    return Group("catalogue", program.name, 1, opened)


# --- one operation each --------------------------------------------------------------------------


@cache
def _interpreter(program: Program) -> Interpreter:
    return Interpreter(parsed(program.text), entry=program.name)


class _OperationCheck:
    def __init__(self, element: str, case: Case) -> None:
        self.name = f"{element} {case.program.name} {case.number}"
        self._case = case
        (self._expected,) = _interpreter(case.program).run(list(case.inputs))

    def give(self, library: hirc.Library, device: str) -> list[torch.Tensor]:
        case, out = self._case, None
        if case.output is not None:
            out = _room(tuple(self._expected.shape), case.output, self._expected.dtype, device)
        given = [_moved(each, device) for each in case.inputs]
        got = library[case.program.name](*given, out=out)
        return [got.cpu().clone()]

    def wrong(self, outputs: list[torch.Tensor]) -> str | None:
        program = self._case.program
        scale = error_scale(program.name, program.op, self._case.inputs, self._expected)
        return difference(outputs[0], self._expected, program.output, scale=scale)


def _host_ir(seed: int) -> Iterator[Group]:
    for element in DTYPES:
        drawn = programs(element)
        random.Random(f"{seed} {element}").shuffle(drawn)
        for number, some in enumerate(_parts(drawn, _TOGETHER["host-ir"])):
            yield _of_operations(element, number, some)


def _of_operations(element: str, number: int, some: list[Program]) -> Group:
    def opened() -> Opened:
        checks = [_OperationCheck(element, case) for case in cases(some, _CALLS)]
        return Opened(module_text(some), (), checks, _command_of(element, some))

    return Group("host-ir", f"{element}-{number}", len(some), opened)


def _command_of(element: str, some: list[Program]) -> Command | None:
    """The first program whose tensors are those of files."""
    for program in some:
        if all(each in _FILED for each in (*program.inputs, program.output)):
            (case,) = cases([program], 1)
            check = _OperationCheck(element, case)
            return Command(program.text, program.name, case.inputs, 1, check.wrong)
    return None


# --- matrix products, by the library where there is one ------------------------------------------


class _ProductCheck:
    def __init__(self, einsum: str, element: str, result: str, turn: int) -> None:
        texts = einsum.partition("->")[0].split(",")
        letters = sorted(set("".join(texts)))
        sizes = {
            letter: _SIZES[(turn + place) % len(_SIZES)] for place, letter in enumerate(letters)
        }
        self.name = f"{einsum} {element} to {result}, {sizes}"
        self._program, self._einsum = name_of(einsum, element, result), einsum
        self._element, self._result = element, result
        generator = torch.Generator().manual_seed(turn)
        self._inputs = [
            torch.randn([sizes[each] for each in text], generator=generator).to(DTYPES[element])
            for text in texts
        ]

    def give(self, library: hirc.Library, device: str) -> list[torch.Tensor]:
        return [library[self._program](*(each.to(device) for each in self._inputs)).cpu().clone()]

    def wrong(self, outputs: list[torch.Tensor]) -> str | None:
        (got,) = outputs
        wanted = torch.einsum(self._einsum, *(each.double() for each in self._inputs))
        if got.shape != wanted.shape:
            return f"shape {tuple(got.shape)}, expected {tuple(wanted.shape)}"
        terms = max(each.numel() for each in self._inputs)
        summed = 8 * _SUMMED.get(self._element, 2**-22) * (terms + 1)
        error = (got.double() - wanted).abs() - _ROUNDED[self._result] * wanted.abs()
        worst = float(error.max()) if error.numel() else 0.0
        return None if worst <= summed else f"off by {worst}, of which {summed} is allowed"


def _products(seed: int) -> Iterator[Group]:
    forms = [(einsum, *pair) for einsum in EINSUMS for pair in PAIRS]
    random.Random(f"{seed} products").shuffle(forms)
    for number, some in enumerate(_parts(forms, _TOGETHER["products"])):
        # Where the library is there it computes every other group.
        flags = ("--products=always",) if number % 2 and torch.cuda.is_available() else ()
        yield _of_products(number, some, flags)


def _of_products(number: int, some: list[tuple[str, str, str]], flags: tuple[str, ...]) -> Group:
    def opened() -> Opened:
        checks = [_ProductCheck(*form, turn) for form in some for turn in range(_CALLS)]
        return Opened("\n".join(contraction(*form) for form in some), flags, checks)

    return Group("products", str(number), len(some), opened)


# --- functions on tensors ------------------------------------------------------------------------


class _RunCheck:
    def __init__(self, run: Run, *, on_gpu: bool) -> None:
        self.name = str(run)
        self._run, self._on_gpu = run, on_gpu

    def give(self, library: hirc.Library, device: str) -> list[torch.Tensor]:
        run = self._run
        inputs = [_with_its_memory(each, device) for each in run.inputs()]
        outputs = [_with_its_memory(room.tensor, device) for room in run.rooms()]
        call(library, run.compiled_name, inputs, outputs, run.returns)
        return [_with_its_memory(each, "cpu") for each in outputs]

    def wrong(self, outputs: list[torch.Tensor]) -> str | None:
        rooms = self._run.rooms()
        for room, output in zip(rooms, outputs, strict=True):
            room.tensor.untyped_storage().copy_(output.untyped_storage())
        try:
            self._run.compare(self._run.inputs(), rooms, on_gpu=self._on_gpu)
        except AssertionError as error:
            return str(error)
        return None


def _schedules(seed: int) -> Iterator[Group]:
    for suite_name, suite in find_suites():
        names = list(suite.names)
        random.Random(f"{seed} {suite_name}").shuffle(names)
        for number, some in enumerate(_parts(names, _TOGETHER["schedules"])):
            yield _of_suite(f"{suite_name}-{number}", suite, some)


def _of_suite(name: str, suite: Suite, some: list[str]) -> Group:
    def opened() -> Opened:
        on_gpu = torch.cuda.is_available()
        checks = [_RunCheck(run, on_gpu=on_gpu) for each in some for run in suite.runs(each)]
        text = Suite([suite.program(each) for each in some]).source
        return Opened(text, tuple(suite.flags), checks)

    return Group("schedules", name, len(some), opened)


# --- tensors of a device -------------------------------------------------------------------------


def _parts(items: list[_Item], count: int) -> Iterator[list[_Item]]:
    for start in range(0, len(items), count):
        yield items[start : start + count]


def _moved(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """A tensor with its own strides on the device."""
    if tensor.numel() == 0:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    reach = 1 + sum((size - 1) * stride for size, stride in steps)
    flat = torch.as_strided(tensor, (reach,), (1,), tensor.storage_offset())
    return torch.as_strided(flat.to(device, copy=True), tensor.shape, tensor.stride(), 0)


def _room(shape: tuple[int, ...], layout: Layout, dtype: torch.dtype, device: str) -> torch.Tensor:
    """Unwritten memory of that layout on the device."""
    return _with_its_memory(place(shape, layout, dtype), device)


def _with_its_memory(value: Any, device: str) -> Any:
    """A tensor on the device with all of the memory that it is part of; anything else as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    whole = torch.empty(0, dtype=torch.uint8, device=value.device).set_(value.untyped_storage())
    moved = torch.empty(whole.shape, dtype=torch.uint8, device=device)
    moved.copy_(whole)
    typed = moved.view(value.dtype)
    return typed.as_strided(value.shape, value.stride(), value.storage_offset())

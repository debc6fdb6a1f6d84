"""A program as a command, run by the interpreter: arguments, files and printing are the same.

The command is the support library's own (runtime/command.c), built with the CPU device into a
library that stays in the cache. It is handed a description of the program as the compiler would
write one, and a function that runs the interpreter on the tensors it gets.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from ..dialects.mlir import ir
from ..pipelines.hir.interface.signature import Value, first_places, read_values
from ..pipelines.weights import Role, weights_of_program
from . import activity
from .cache import cached
from .cpu_device.build import runtime_object
from .errors import InputError, ToolchainError
from .interpreter import Interpreter
from .interpreter.dtypes import DTYPES
from .llvm_ir import extract_definitions, host_machine
from .loader_abi import OPEN, VERSION, DlTensor, ProgramInfo, ValueStruct, describe
from .loader_values import ValueInfo, scalar_bytes, scalar_value
from .output import scratch_folder
from .process import Runner
from .program_faults import refuse_faults
from .safetensors import read_tensors
from .support_library import support_bitcode
from .toolchain import Clang
from .weights import find_value

_RUN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def command_library(clang: Clang, runner: Runner) -> bytes:
    """Returns the command and the CPU device as a shared library. Raises ToolchainError."""
    support, runtime = support_bitcode(clang, runner), runtime_object(clang, runner)
    digest = hashlib.sha256(support + runtime).hexdigest()[:16]

    def make() -> bytes:
        with scratch_folder() as folder:
            files = [folder / name for name in ("support.bc", "cpu-device.o", "command.so")]
            files[0].write_bytes(extract_definitions(support, ["hirc_command"], host_machine(2)))
            files[1].write_bytes(runtime)
            options = ["-shared", "-O1", "-fPIC", "-Wno-override-module"]
            command = [clang.path, *options, *files[:2], "-o", files[2], "-pthread", "-lm"]
            done = runner.run(command)
            if done.status != 0:
                raise ToolchainError(f"clang cannot link the command: {done.errors.strip()}")
            return files[2].read_bytes()

    return cached(f"command-{digest}.so", make)


class InterpretedCommand:
    """The command of a program's `entry`.

    `guard` calls the function it is given, prints what that raises, and returns an exit status.
    `weights` is the file with the program's weights. Raises InputError where it has others, or
    where the program is wrong whatever its inputs are.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        guard: Callable[[Callable[[], int]], int],
        weights: Path | None = None,
    ) -> None:
        self.interpreter = interpreter
        refuse_faults(interpreter.module.operation)
        self._weights = read_weights(interpreter.entry.op, weights)
        self._guard = guard
        self._kept: list[Any] = []
        self._info = self._described()
        info = ctypes.pointer(self._info).contents
        self._inputs = describe(info.inputs, info.input_count)
        self._outputs = describe(info.outputs, info.output_count)
        self._results: list[Any] = []

    def load(self, library: Path) -> None:
        """Loads what command_library made, from a file that is not needed afterwards."""
        self._command = ctypes.CDLL(str(library)).hirc_command

    def run(self, words: Sequence[str]) -> int:
        """Runs it with the command line `words`, the command's name first."""
        encoded = [word.encode(errors="surrogateescape") for word in words]
        arguments = (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)
        run = _RUN(self._guarded(self._interpret))
        activity.end_itself()
        return int(self._command(len(encoded), arguments, ctypes.byref(self._info), run))

    def _described(self) -> ProgramInfo:
        """struct hirc_program_info of the program."""
        outline = self.interpreter.entry
        values, outputs = read_values(outline.op)
        inputs = [value for place, value in enumerate(values) if place not in self._weights]
        name = self._text(outline.name)
        of_inputs, of_outputs = first_places(inputs, outputs)
        taken, given = self._array(inputs, of_inputs), self._array(outputs, of_outputs)
        return ProgramInfo(VERSION, 0, name, None, taken, given, len(inputs), len(outputs), None)

    def _array(self, values: Sequence[Value], firsts: Sequence[tuple[int, ...]]) -> Any:
        structs = [
            ValueStruct(
                self._text(value.name),
                self._text(value.text),
                self._text(str(value.element)),
                self._numbers(value.sizes),
                self._numbers(value.strides) if value.strides is not None else None,
                (ctypes.c_char_p * len(value.names))(*(n.encode() or None for n in value.names)),
                (ctypes.c_int64 * len(first))(*first) if first else None,
                value.alignment,
                value.rank,
                value.dtype,
                value.element_bytes,
                int(not value.is_buffer),
                0,
                0,
            )
            for value, first in zip(values, firsts, strict=True)
        ]
        array = (ValueStruct * len(structs))(*structs)
        self._kept.append(array)
        return array

    def _text(self, text: str) -> bytes:
        return text.encode()

    def _numbers(self, numbers: Sequence[int]) -> Any:
        return (ctypes.c_int64 * len(numbers))(*(OPEN if n < 0 else n for n in numbers))

    def _guarded(self, run: Callable[[int, int], int]) -> Callable[[int, int, int], int]:
        """Returns a function for C to call, through which no exception can go: one ends the
        process.
        """

        def guarded(inputs: int, outputs: int, stream: int) -> int:
            del stream
            status = self._guard(lambda: run(inputs, outputs))
            if status != 0:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
            return 0

        return guarded

    def _interpret(self, inputs: int, outputs: int) -> int:
        given = [
            _argument(value, _tensor_at(inputs, place)) for place, value in enumerate(self._inputs)
        ]
        for place in sorted(self._weights):
            given.insert(place, self._weights[place])
        results = self.interpreter.run(given)
        # They are read, and the memory forgotten, before the next run.
        self._results = [results]
        for place, (value, result) in enumerate(zip(self._outputs, results, strict=True)):
            tensor = _tensor_at(outputs, place)
            if value.is_scalar:
                data = scalar_bytes(value, result, self.interpreter.entry.name)
                ctypes.memmove(tensor.data, data, len(data))
            else:
                self._fill(tensor, result)
        return 0

    def _fill(self, tensor: DlTensor, result: torch.Tensor) -> None:
        tensor.data, tensor.byte_offset = result.data_ptr(), 0
        rank = result.dim()
        for address, numbers in ((tensor.sizes, result.shape), (tensor.strides, result.stride())):
            if rank:
                (ctypes.c_int64 * rank).from_address(address)[:] = list(numbers)


def read_weights(program: ir.Operation, path: Path | None) -> dict[int, torch.Tensor]:
    """Returns the weights of a program and its state as it begins, by the number of the input."""
    declared = weights_of_program(program)
    valued = [weight for weight in declared.values() if weight.role is not Role.ZEROS]
    if path is None and valued:
        raise InputError(f"there is no file for weight '{valued[0].name}'", hint="--weights=FILE")
    if path is not None and not valued:
        raise InputError(f"--weights={path}: the program has no weights")
    file = None if path is None else read_tensors(path)
    kinds = ir.FunctionType(ir.TypeAttr(program.attributes["function_type"]).value).inputs
    found: dict[int, torch.Tensor] = {}
    for place, weight in declared.items():
        dtype = DTYPES[str(ir.MemRefType(kinds[place]).element_type)]
        if weight.role is Role.ZEROS:
            found[place] = torch.zeros(weight.sizes, dtype=dtype)
            continue
        assert file is not None
        data = bytearray(find_value(weight, file)[1].data)
        flat = torch.frombuffer(data, dtype=torch.uint8) if data else torch.empty(0).byte()
        found[place] = flat.view(dtype).reshape(weight.sizes)
    return found


def _tensor_at(tensors: int, place: int) -> DlTensor:
    """Tensor number `place` of an array of pointers to tensors."""
    address = ctypes.c_void_p.from_address(tensors + 8 * place).value
    assert address is not None
    return DlTensor.from_address(address)


def _argument(value: ValueInfo, tensor: DlTensor) -> Any:
    """Returns what the interpreter takes for a tensor in the host's memory."""
    if value.is_scalar:
        return scalar_value(value, ctypes.string_at(tensor.data, value.element_bytes))
    dtype, rank = DTYPES[value.element], tensor.rank
    sizes = list((ctypes.c_int64 * rank).from_address(tensor.sizes)) if rank else []
    strides = list((ctypes.c_int64 * rank).from_address(tensor.strides)) if rank else []
    if 0 in sizes:
        return torch.empty(sizes, dtype=dtype)
    reach = sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    room = (ctypes.c_char * ((reach + 1) * value.element_bytes)).from_address(
        tensor.data + tensor.byte_offset
    )
    return torch.frombuffer(room, dtype=torch.uint8).view(dtype).as_strided(sizes, strides)

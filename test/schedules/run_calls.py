"""Calls of a checked library's programs that a file lists, in a process of their own.

The library exports `register_memory`, which is cudaHostRegister.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from ctypes import CDLL, c_size_t, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import hirc


def call(
    library: hirc.Library,
    name: str,
    inputs: Sequence[Any],
    outputs: Sequence[torch.Tensor],
    returns: bool,
) -> None:
    """Runs a program into the outputs, which it returns or takes as its last inputs."""
    program = library[name]
    if returns:
        program(*inputs, out=tuple(outputs))
    else:
        program(*inputs, *outputs)


def register(library: hirc.Library, tensor: torch.Tensor) -> None:
    """Makes what a tensor spans memory that kernels may access, and not what lies around it."""
    if tensor.numel() == 0:
        return
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    span = sum((size - 1) * stride for size, stride in steps) + 1
    start, bytes_ = c_void_p(tensor.data_ptr()), c_size_t(span * tensor.itemsize)
    assert library.loaded.register_memory(start, bytes_) == 0


# Its processes have torch already: to load it takes longer than most calls do.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["torch", "hirc"])


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it wrote."""

    status: int | None
    output: str
    errors: str


def run_calls(library: Path, listed: Path, folder: Path) -> Ended:
    """Makes the calls in a new process, which writes to files in `folder`."""
    output, errors = folder / "output", folder / "errors"
    paths = (library, listed, output, errors)
    process = _processes.Process(target=_run, args=tuple(map(str, paths)))
    process.start()
    process.join(300)
    if process.is_alive():
        process.kill()
        process.join()
    status = process.exitcode
    process.close()
    return Ended(status, output.read_text(), errors.read_text())


def _run(library: str, listed: str, output: str, errors: str) -> None:
    for stream, path in ((1, output), (2, errors)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), stream)
    loaded = hirc.load(library)
    for name, inputs, outputs, returns in torch.load(listed, weights_only=True):
        os.write(1, f"{name} {[tuple(each.shape) for each in outputs]}\n".encode())
        for value in (*inputs, *outputs):
            if isinstance(value, torch.Tensor):
                register(loaded, value)
        call(loaded, name, inputs, outputs, returns)
    # What libraries do at the end of a process belongs to it.
    CDLL(None).exit(0)

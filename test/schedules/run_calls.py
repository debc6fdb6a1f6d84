"""Calls of a checked library's programs that a file lists, in a process of their own.

The library exports `register_memory`, which is cudaHostRegister.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from ctypes import c_size_t, c_void_p
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


def main() -> None:
    loaded = hirc.load(sys.argv[1])
    for name, inputs, outputs, returns in torch.load(sys.argv[2], weights_only=True):
        print(name, [tuple(each.shape) for each in outputs], flush=True)
        for value in (*inputs, *outputs):
            if isinstance(value, torch.Tensor):
                register(loaded, value)
        call(loaded, name, inputs, outputs, returns)


if __name__ == "__main__":
    main()

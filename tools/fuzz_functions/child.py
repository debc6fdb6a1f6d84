"""A batch of functions in a process of its own: compiled into one library, run, compared.

Prints a line of JSON for each thing that happened, when it happens: the parent sees how far a
process came that died.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...compiler.loader import load
from .. import hirc
from .draw import Function
from .numbers import Array, Element, Numbers, known, mismatches
from .writer import Tensor

# A library for the CPU device.
LIBRARY = ("--emit=shared", "--offload-arch=cpu")
_BYTES = {"i1": np.bool_, "f16": np.float16, "f32": np.float32}


def run(seeds: list[int], folder: Path, words: list[str], functions: list[Function]) -> None:
    """Compiles functions, runs them, and prints what came of each."""
    source, library = folder / "batch.mlir", folder / "batch.so"
    texts = [function.text(f"f{seed}") for seed, function in zip(seeds, functions, strict=True)]
    source.write_text("\n".join(texts))
    tell(event="compiling")
    if hirc.main([str(source), "-o", str(library), *LIBRARY, *words]) != 0:
        tell(event="refused")
        return
    tell(event="compiled")
    programs = load(library)
    for seed, function in zip(seeds, functions, strict=True):
        tell(event="running", seed=seed)
        try:
            results = call(programs[f"f{seed}"], function)
        # Whatever is raised is what went wrong with this function.
        except Exception as error:  # noqa: BLE001
            tell(event="failed", seed=seed, text=f"{type(error).__name__}: {error}")
            continue
        tell(event="done", seed=seed, **compare(function, results))


def call(program: Any, function: Function) -> list[Array]:
    """Returns a program's outputs; floats as float64."""
    given = function.writer.given
    inputs = [_pass(each, given[each.name]) for each in function.writer.arguments]
    results = program(*inputs)
    results = list(results) if isinstance(results, tuple) else [results]
    return [
        _read(output.element, result)
        for output, result in zip(function.outputs, results, strict=True)
    ]


def _pass(argument: Tensor, numbers: Numbers) -> Any:
    if argument.is_scalar:
        return int(numbers.value)
    array = numbers.value
    if argument.element.name == "bf16":
        bits = (np.asarray(array, np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
        return torch.from_numpy(np.array(bits.view(np.int16))).view(torch.bfloat16)
    wanted = _BYTES.get(argument.element.name, argument.element.dtype)
    return torch.from_numpy(np.array(array, dtype=wanted))


def _read(element: Element, result: Any) -> Array:
    if isinstance(result, torch.Tensor):
        if element.name == "bf16":
            result = result.to(torch.float32)
        array = result.numpy()
    else:
        array = np.asarray(result)
    return array.astype(np.float64) if element.is_float else array


def compare(function: Function, results: list[Array]) -> dict[str, Any]:
    """Returns how many elements were compared, and what the first wrong one was."""
    values = function.evaluate()
    compared = 0
    for place, (output, given) in enumerate(zip(function.outputs, results, strict=True)):
        wanted = values[output.name]
        if given.shape != output.shape:
            return {"wrong": f"output {place} has shape {given.shape}, not {output.shape}"}
        compared += int(np.sum(known(wanted)))
        bad = mismatches(output.element, wanted, given)
        if np.any(bad):
            at = tuple(int(each) for each in np.argwhere(bad)[0])
            return {
                "wrong": f"output {place} ({output.name} : {output.type}) at {at}: "
                f"{given[at]}, not {wanted.value[at]} within {wanted.error[at]:.3g}; "
                f"{int(bad.sum())} of {bad.size} elements"
            }
    return {"compared": compared}


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)

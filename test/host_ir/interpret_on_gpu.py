"""The interpreter over CUDA tensors gives what it gives over those of the host.

    PYTHONPATH=<where torch_mlir and hirc are> python3 interpret_on_gpu.py BUILT

on a GPU machine; BUILT is the folder that on_gpu.py wrote. Prints a line for every part; the exit
status is 1 where anything differs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from host_ir.agreement import difference, error_scale
from host_ir.catalog import HostProgram, host_programs
from host_ir.element_values import DTYPES
from host_ir.operations import programs
from host_ir.run_on_gpu import on_device

import hirc

_WITHOUT_COMPILER = [program for program in host_programs() if program.name != "own_kernel"]


def check_programs() -> int:
    """Interprets the catalogue's programs on both; the number that differ."""
    wrong = 0
    for program in _WITHOUT_COMPILER:
        inputs = _inputs(program)
        on_gpu = [item.cuda() if isinstance(item, torch.Tensor) else item for item in inputs]
        expected = hirc.interpret(program.text, inputs)
        got = hirc.interpret(program.text, on_gpu)
        torch.cuda.synchronize()
        found = None
        for one, other in zip(got, expected, strict=True):
            assert one.is_cuda
            element = next(name for name, dtype in DTYPES.items() if dtype == other.dtype)
            scale = float(other.to(torch.float64).abs().max())
            found = found or difference(one.cpu(), other, element, scale=scale)
        wrong += found is not None
        print(f"interpreted {program.name}: {found or 'right'}", flush=True)
    return wrong


def check_cases(path: Path, element: str) -> int:
    """Interprets the cases of one element type over CUDA tensors; the number that differ."""
    texts = {program.name: program.text for program in programs(element)}
    wrong = count = 0
    for case in torch.load(path, weights_only=False):
        inputs = [on_device(item) for item in case["inputs"]]
        name = case["program"]
        (got,) = hirc.interpret(texts[name], inputs, entry=name)
        scale = error_scale(name, case["op"], case["inputs"], case["expected"])
        found = difference(got.cpu(), case["expected"], case["output"], scale=scale)
        count += 1
        if found is not None:
            wrong += 1
            print(f"  {name}: {found}"[:300], flush=True)
    print(f"interpreted {element}: {count} results, {wrong} wrong", flush=True)
    return wrong


def _inputs(program: HostProgram) -> list[torch.Tensor | int | float]:
    """Inputs of the sizes and types that the program's are; the numbers are torch's."""
    found: list[torch.Tensor | int | float] = []
    torch.manual_seed(0)
    for item in program.inputs:
        kind, _, value = item.partition("=")
        if not value:
            found.append(float(kind) if "." in kind else int(kind))
            continue
        *sizes, element = kind.split("x")
        shape = [int(size) for size in sizes]
        numbers = torch.rand(shape) if value.startswith("@") else torch.full(shape, float(value))
        found.append(numbers.to(DTYPES[element]))
    return found


def main() -> int:
    folder = Path(sys.argv[1])
    wrong = check_programs()
    for element in ("f32", "f16", "i32", "ui8", "i1", "f8E4M3FN", "tf32"):
        wrong += check_cases(folder / f"{element}.pt", element)
    print("interpreted wrong:", wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs what on_gpu.py built on this machine's GPU, and compares it with what it is to give.

Programs run as commands and by a library, and compiled in the process where all of hirc is there.
Prints a line for every element type and program; the exit status is 1 where anything differs.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

HERE = Path(__file__).parent.resolve()
# The loader that lies here is for machines without hirc. An editable install is found behind every
# folder, so that hirc is looked for without this one first.
sys.path[:] = [each for each in sys.path if Path(each).resolve() != HERE]
with contextlib.suppress(ImportError):
    import hirc
sys.path.append(str(HERE))

from host_ir.agreement import difference, error_scale  # noqa: E402

import hirc  # noqa: E402

_COMPILES = importlib.util.find_spec("hirc.compiler.compile_program") is not None
_NAMES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.int64: "i64",
    torch.int32: "i32",
}


def check_catalogue() -> int:
    """Runs the commands; the number that gave something else."""
    wrong = 0
    for name, entry in torch.load(HERE / "catalogue.pt", weights_only=False).items():
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / f"{number}.npy" for number in range(len(entry["expected"]))]
            words = [f"--input={item}" for item in entry["inputs"]]
            words += [f"--output={path}" for path in files]
            done = subprocess.run(
                [HERE / name, *words], capture_output=True, text=True, timeout=120, check=False
            )
            found = done.stderr if done.returncode or done.stderr else None
            for path, expected in zip(files, entry["expected"], strict=True):
                if found is None:
                    found = _differs(torch.from_numpy(np.load(path)), expected)
        wrong += found is not None
        print(f"program {name}: {found or 'right'}", flush=True)
        for how, main in _callable(entry["text"], HERE / f"{name}.so"):
            found = _called(main, entry)
            wrong += found is not None
            print(f"program {name}, {how}: {found or 'right'}", flush=True)
    return wrong


def _differs(got: torch.Tensor, expected: torch.Tensor) -> str | None:
    scale = float(expected.to(torch.float64).abs().max())
    return difference(got, expected, _NAMES[expected.dtype], scale=scale)


def _callable(text: str, library: Path) -> Iterator[tuple[str, Any]]:
    """Yields the ways there are to call a program in this process."""
    yield "library", hirc.load(library)["main"]
    if _COMPILES:
        yield "in process", hirc.jit(text, cache=False)


def _called(program: Any, entry: dict[str, Any]) -> str | None:
    """Returns what differs where a program is called with the catalogue's inputs."""
    tensors = [isinstance(each, torch.Tensor) for each in entry["values"]]
    inputs = [
        each.cuda() if is_tensor else each
        for each, is_tensor in zip(entry["values"], tensors, strict=True)
    ]
    outputs = program(*inputs)
    every = outputs if isinstance(outputs, tuple) else (outputs,)
    torch.cuda.synchronize()
    pairs = zip(every, entry["expected"], strict=True)
    found = (_differs(torch.as_tensor(got).cpu(), expected) for got, expected in pairs)
    return next((each for each in found if each is not None), None)


def check_numerics(path: Path) -> int:
    """Calls the programs of one element type; the number of results that differ."""
    cases = torch.load(path, weights_only=False)
    wrong = _check_cases(path.stem, cases, hirc.load(path.with_suffix(".so")))
    if importlib.util.find_spec("hirc.compiler.compile_program") is not None:
        made = hirc.compile(path.with_suffix(".mlir"), entry=cases[0]["program"], cache=False)
        wrong += _check_cases(f"{path.stem}, in process", cases, made)
    return wrong


def _check_cases(name: str, cases: list[dict[str, Any]], library: Any) -> int:
    wrong = count = 0
    for case in cases:
        inputs = [on_device(item) for item in case["inputs"]]
        out = None
        if case["layout"] is not None:
            out = place(tuple(case["expected"].shape), case["layout"], case["expected"].dtype)
        got = getattr(library, case["program"])(*inputs, out=out)
        torch.cuda.synchronize()
        expected = case["expected"]
        scale = error_scale(case["program"], case["op"], case["inputs"], expected)
        found = difference(got.cpu(), expected, case["output"], scale=scale)
        count += 1
        if found is not None:
            wrong += 1
            print(f"  {case['program']}: {found}"[:300], flush=True)
    print(f"{name}: {count} results, {wrong} wrong", flush=True)
    return wrong


def on_device(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with its own strides on the GPU."""
    if tensor.numel() == 0:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="cuda")
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    reach = 1 + sum((size - 1) * stride for size, stride in steps)
    flat = torch.as_strided(tensor, (reach,), (1,), tensor.storage_offset())
    return torch.as_strided(flat.cuda(), tensor.shape, tensor.stride(), 0)


def place(shape: tuple[int, ...], layout: Any, dtype: torch.dtype) -> torch.Tensor:
    """An unwritten tensor of that shape, order, step and lead in every dim."""
    order, step, lead = layout
    stored = [lead + shape[dim] * step for dim in order]
    whole = torch.empty(stored, dtype=dtype, device="cuda")
    whole = whole[tuple(slice(lead, lead + shape[dim] * step, step) for dim in order)]
    return whole.permute([order.index(dim) for dim in range(len(shape))])


def main() -> int:
    if not _COMPILES:
        print("in process: hirc is not installed here")
    print(torch.cuda.get_device_name(0))
    # Commands have no torch in them that brings a copy.
    for path in Path(torch.__file__).parents[1].glob("nvidia/*/lib/libcublasLt.so.*"):
        os.environ.setdefault("HIRC_CUBLASLT", str(path))
    wrong = check_catalogue()
    for path in sorted(HERE.glob("*.pt")):
        if path.stem != "catalogue":
            wrong += check_numerics(path)
    print("wrong:", wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

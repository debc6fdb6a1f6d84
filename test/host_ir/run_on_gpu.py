"""Runs what on_gpu.py built on this machine's GPU, and compares it with what it is to give.

Prints a line for every element type and program; the exit status is 1 where anything differs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

HERE = Path(__file__).parent.resolve()
sys.path.insert(0, str(HERE))

from host_ir.agreement import difference, error_scale  # noqa: E402

import hirc  # noqa: E402

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
                    got = torch.from_numpy(np.load(path))
                    scale = float(expected.to(torch.float64).abs().max())
                    found = difference(got, expected, _NAMES[expected.dtype], scale=scale)
        wrong += found is not None
        print(f"program {name}: {found or 'right'}", flush=True)
    return wrong


def check_numerics(path: Path) -> int:
    """Calls the programs of one element type; the number of results that differ."""
    library = hirc.load(path.with_suffix(".so"))
    wrong = count = 0
    for case in torch.load(path, weights_only=False):
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
    print(f"{path.stem}: {count} results, {wrong} wrong", flush=True)
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

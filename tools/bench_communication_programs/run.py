"""Runs what bench_communication built, one process a device, beside torch.distributed.

    python run.py [--bytes N ...] [--repeat N] [--only PART] [--no-torch] [--json FILE]

Needs nothing of hirc, and torch for what stands beside. Times are the device's, medians; of the
processes the one that takes longest counts. Bus bandwidths are as nccl-tests reckons them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
_DEVICE = re.compile(r"^ *device +median ([\d.e+-]+) (ns|us|ms|s)\b", re.MULTILINE)
_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_ITEM = 4  # bytes of an f32
_SECONDS = 600


def main() -> int:
    options = _parse()
    if options.torch_rank is not None:
        return _torch_rank(options)
    about = json.loads((_HERE / "about.json").read_text())
    beside: dict[str, float] = {} if options.no_torch else _torch(options, about["devices"])
    kinds = about["kinds"] if options.only != "overlaps" else []
    rows = [
        _communication(kind, size, about, options.repeat, beside)
        for kind in kinds
        for size in options.bytes
    ]
    names = about["overlaps"] if options.only != "communications" else []
    overlaps = [_overlap(name, about, options.repeat, beside) for name in names]
    report = {
        "machine": platform.node(),
        "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        **about,
        "rows": rows,
        "overlap": overlaps,
    }
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1))
    return 0


def bus_bytes(kind: str, size: int, devices: int) -> float:
    """Returns what crosses a device's links, where the larger of its buffers has `size` bytes."""
    factor = {"allreduce": 2 * (devices - 1) / devices, "broadcast": 1.0}
    return size * factor.get(kind, (devices - 1) / devices)


def _communication(
    kind: str, size: int, about: dict[str, Any], repeat: int, beside: dict[str, float]
) -> dict[str, Any]:
    devices = about["devices"]
    # `size` is the larger buffer's: of an allgather the output.
    elements = max(devices, size // _ITEM // devices * devices)
    given = elements // devices if kind == "allgather" else elements
    seconds = timed(kind, [f"--input={given}xf32=1"], devices, repeat) / about["count"]
    crossed = bus_bytes(kind, elements * _ITEM, devices)
    row: dict[str, Any] = {"kind": kind, "bytes": elements * _ITEM, "seconds": seconds}
    row["bus"] = crossed / seconds
    line = f"{kind:15} {elements * _ITEM:11} bytes {seconds * 1e6:10.1f} us"
    line += f" {crossed / seconds / 1e9:8.1f} GB/s"
    torch = beside.get(f"{kind} {size}")
    if torch is not None:
        row.update(torch_seconds=torch, torch_bus=crossed / torch)
        line += f"   torch {torch * 1e6:10.1f} us {crossed / torch / 1e9:8.1f} GB/s"
        line += f"   {torch / seconds:5.2f}"
    print(line, flush=True)
    return row


def _overlap(
    name: str, about: dict[str, Any], repeat: int, beside: dict[str, float]
) -> dict[str, Any]:
    devices = about["devices"]
    rows, columns, depth = about["sizes"]
    gathers = name == "allgather-product"
    weight = (columns // devices, depth) if gathers else (columns, depth // devices)

    def run(part: str) -> float:
        own_rows = rows // devices if gathers and part != "product" else rows
        width = columns if not gathers and part == "communication" else weight[1]
        inputs = [
            f"--input=w={weight[0]}x{weight[1]}xbf16=@random:1",
            f"--input=x={own_rows}x{width}xbf16=@random:1",
        ]
        return timed(f"{name}-{part}", inputs, devices, repeat)

    found: dict[str, Any] = {part: run(part) for part in ("communication", "product", "both")}
    found["chosen"] = run("steps")
    found["steps"] = {str(steps): run(f"steps{steps}") for steps in about["steps"]}
    best = min(found["chosen"], *found["steps"].values())
    # All of it is hidden where both take what the product takes alone.
    found["hidden"] = (found["both"] - found["chosen"]) / found["communication"]
    print(f"{name}, microseconds")
    for part in ("communication", "product", "both", "chosen"):
        print(f"  {part:15} {found[part] * 1e6:10.1f}")
    for steps, seconds in found["steps"].items():
        print(f"  {steps + ' steps':15} {seconds * 1e6:10.1f}")
    print(f"  of the communication hidden: {found['hidden']:.0%}, the best {best * 1e6:.1f}")
    for what in ("both", "fused"):
        torch = beside.get(f"{name} {what}")
        if torch is not None:
            found[f"torch_{what}"] = torch
            print(f"  torch, {what:8} {torch * 1e6:10.1f}")
    return {"name": name, **found}


def timed(name: str, words: Sequence[str], devices: int, repeat: int) -> float:
    """Runs a program as a team; returns the seconds of a run on the device that takes longest."""
    meeting = f"unix:hirc-{uuid.uuid4().hex}"
    command = [str(_HERE / name), *words, "--time", f"--repeat={repeat}"]
    processes = [
        subprocess.Popen(
            command,
            env={**os.environ, **_place(rank, devices), "HIRC_RENDEZVOUS": meeting},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(devices)
    ]
    seconds: list[float] = []
    for process in processes:
        output, errors = process.communicate(timeout=_SECONDS)
        found = _DEVICE.search(output)
        if process.returncode != 0 or found is None:
            raise SystemExit(f"{name}: status {process.returncode}\n{output}{errors}")
        seconds.append(float(found[1]) * _UNITS[found[2]])
    return max(seconds)


def _place(rank: int, devices: int) -> dict[str, str]:
    return {
        "HIRC_RANK": str(rank),
        "HIRC_LOCAL_RANK": str(rank),
        "HIRC_WORLD_SIZE": str(devices),
        "HIRC_LOCAL_WORLD_SIZE": str(devices),
    }


# --- torch ----------------------------------------------------------------------------------------


def _torch(options: argparse.Namespace, devices: int) -> dict[str, float]:
    """Returns what torch.distributed's communications and products take; nothing if it fails."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, *sys.argv[1:], f"--torch-rank={rank}"],
            env={
                **os.environ,
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port),
                "RANK": str(rank),
                "WORLD_SIZE": str(devices),
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(devices)
    ]
    outputs = [process.communicate(timeout=_SECONDS)[0] for process in processes]
    if any(process.returncode for process in processes):
        print("torch.distributed failed; its figures are left out", file=sys.stderr)
        return {}
    each = [json.loads(output.splitlines()[-1]) for output in outputs]
    return {name: max(found[name] for found in each) for name in each[0]}


def _torch_rank(options: argparse.Namespace) -> int:
    import torch

    dist: Any = import_module("torch.distributed")
    rank = options.torch_rank
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    devices = dist.get_world_size()
    found: dict[str, float] = {}
    about = json.loads((_HERE / "about.json").read_text())

    def seconds(run: Callable[[], object], count: int = 1) -> float:
        times: list[float] = []
        for _ in range(options.repeat + 3):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            dist.barrier()
            begin.record()
            for _ in range(count):
                run()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 1e-3 / count)
        return sorted(times[3:])[len(times[3:]) // 2]

    for size in options.bytes if options.only != "overlaps" else []:
        elements = max(devices, size // _ITEM // devices * devices)
        whole, other = (torch.ones(elements, device="cuda") for _ in range(2))
        part = torch.ones(elements // devices, device="cuda")
        runs: dict[str, Callable[[], object]] = {
            "allreduce": lambda whole=whole: dist.all_reduce(whole),
            "allgather": lambda whole=whole, part=part: dist.all_gather_into_tensor(whole, part),
            "reduce-scatter": lambda whole=whole, part=part: dist.reduce_scatter_tensor(
                part, whole
            ),
            "broadcast": lambda whole=whole: dist.broadcast(whole, 0),
            "all-to-all": lambda whole=whole, other=other: dist.all_to_all_single(other, whole),
        }
        for kind, run in runs.items():
            found[f"{kind} {size}"] = seconds(run, about["count"])
    found.update(_torch_overlaps(about, seconds))
    print(json.dumps(found))
    dist.destroy_process_group()
    return 0


def _torch_overlaps(
    about: dict[str, Any], seconds: Callable[[Callable[[], object]], float]
) -> dict[str, float]:
    import torch

    dist: Any = import_module("torch.distributed")
    devices, (rows, columns, depth) = about["devices"], about["sizes"]

    def drawn(*shape: int) -> torch.Tensor:
        return torch.rand(shape, device="cuda", dtype=torch.bfloat16)

    # Matrices of weights lie as hirc's do.
    part, whole = drawn(rows // devices, depth), drawn(rows, depth)
    across = drawn(columns // devices, depth).T
    own, down = drawn(rows, depth // devices), drawn(columns, depth // devices).T
    scattered = drawn(rows // devices, columns)

    def gather() -> None:
        dist.all_gather_into_tensor(whole, part)
        torch.mm(whole, across)

    found = {
        "allgather-product both": seconds(gather),
        "product-reduce-scatter both": seconds(
            lambda: dist.reduce_scatter_tensor(scattered, torch.mm(own, down))
        ),
    }
    try:
        import_module("torch.distributed._symmetric_memory")
        group = dist.group.WORLD.group_name
        fused: Any = torch.ops.symm_mem
        found["allgather-product fused"] = seconds(
            lambda: fused.fused_all_gather_matmul(part, [across], 0, group)
        )
        found["product-reduce-scatter fused"] = seconds(
            lambda: fused.fused_matmul_reduce_scatter(own, down, "sum", 0, group)
        )
    except (ImportError, AttributeError, RuntimeError) as error:
        print(f"torch's fused operators: {error}", file=sys.stderr)
    return found


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, action="append", default=[])
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--only", choices=("communications", "overlaps"))
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--json")
    parser.add_argument("--torch-rank", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.bytes = options.bytes or [1 << 10, 1 << 20, 1 << 30]
    return options


if __name__ == "__main__":
    sys.exit(main())

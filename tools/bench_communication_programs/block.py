"""A transformer's block over several devices: hirc's library beside torch's tensor parallelism.

    torchrun --standalone --nproc-per-node=N block.py [--compile] [--json FILE]

Rows of the batch are divided where the layers are whole, and heads and hidden columns in between,
as Megatron's sequence parallelism does it. Needs torch, and of hirc its loader. Times are of the
device, medians; of the processes the one that takes longest counts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE))

# A model's file, of which bench_communication fills in the numbers of devices, batches, rows,
# columns and heads. What is in no table is whole.
MODEL = """\
import torch
from torch.nn.functional import gelu, rms_norm, scaled_dot_product_attention

DEVICES, BATCH, ROWS, COLUMNS, HEADS = {}


def block(x, norm, other_norm, q, k, v, o, up, down):
    y = rms_norm(x, (COLUMNS,), norm, 1e-5)
    heads = [
        (y @ each.T).view(BATCH, ROWS, HEADS, -1).transpose(1, 2) for each in (q, k, v)
    ]
    found = scaled_dot_product_attention(*heads, is_causal=True)
    x = x + found.transpose(1, 2).reshape(BATCH, ROWS, COLUMNS) @ o.T
    y = rms_norm(x, (COLUMNS,), other_norm, 1e-5)
    return x + gelu(y @ up.T) @ down.T


def get_inputs():
    shapes = [(BATCH, ROWS, COLUMNS), (COLUMNS,), (COLUMNS,), *[(COLUMNS, COLUMNS)] * 4]
    shapes += [(4 * COLUMNS, COLUMNS), (COLUMNS, 4 * COLUMNS)]
    return [torch.empty(shape, dtype=torch.bfloat16) for shape in shapes]


mesh = (DEVICES,)
shardings = {{
    "x": "axis:0", "q": "axis:0", "k": "axis:0", "v": "axis:0", "o": "axis:1",
    "up": "axis:0", "down": "axis:1", "output0": "axis:0",
}}
"""
_REPEAT = 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", action="store_true", help="torch.compile beside, too")
    parser.add_argument("--json")
    options = parser.parse_args()
    import torch

    import hirc

    dist: Any = import_module("torch.distributed")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    about = json.loads((_HERE / "about.json").read_text())
    space: dict[str, Any] = {}
    exec(compile(MODEL.format(tuple(about["block"])), "model", "exec"), space)
    torch.manual_seed(0)
    wholes = [torch.randn_like(each, device="cuda") * 0.02 for each in space["get_inputs"]()]
    wholes[0] *= 50
    names = ("x", "norm", "other_norm", "q", "k", "v", "o", "up", "down")
    parts = [
        _part(whole, space["shardings"].get(name), rank, dist.get_world_size())
        for name, whole in zip(names, wholes, strict=True)
    ]
    block = _TorchBlock(space, dist)
    wanted = _part(space["block"](*(each.double() for each in wholes)), "axis:0", rank, block.size)
    runs: dict[str, Callable[[], torch.Tensor]] = {}
    for steps in about["block_steps"]:
        library = hirc.load(_HERE / f"block{steps}.so")
        runs[f"hirc, {steps} steps" if steps else "hirc"] = lambda run=library.main: run(*parts)
    runs["torch"] = lambda: block(*parts)
    if options.compile:
        _allow_overlap(dist)
        compiled = torch.compile(block)
        runs["torch.compile, overlapping"] = lambda: compiled(*parts)
    figures: dict[str, Any] = {}
    for name, run in runs.items():
        error = float((run().double() - wanted).norm() / wanted.norm())
        figures[name] = {"seconds": _longest(_seconds(run, dist), dist), "error": error}
        if rank == 0:
            print(f"{name:28} {figures[name]['seconds'] * 1e6:9.1f} us  error {error:.1e}")
    if options.json and rank == 0:
        Path(options.json).write_text(json.dumps({**about, "figures": figures}, indent=1))
    dist.barrier()
    dist.destroy_process_group()
    return 0


class _TorchBlock:
    """The block's parts with collectives between them."""

    def __init__(self, space: dict[str, Any], dist: Any) -> None:
        self.size = dist.get_world_size()
        self._dims = space["BATCH"], space["ROWS"], space["HEADS"] // self.size
        self._group = dist.group.WORLD
        self._collectives: Any = import_module("torch.distributed._functional_collectives")

    def __call__(
        self, x: Any, norm: Any, other_norm: Any, q: Any, k: Any, v: Any, o: Any, up: Any, down: Any
    ) -> Any:
        import torch

        of = torch.nn.functional
        batch, rows, heads = self._dims
        columns = x.shape[-1]
        flat = x.flatten(0, 1)
        y = self._gathered(of.rms_norm(flat, (columns,), norm, 1e-5))
        of_heads = [(y @ each.T).view(batch, rows, heads, -1).transpose(1, 2) for each in (q, k, v)]
        found = of.scaled_dot_product_attention(*of_heads, is_causal=True)
        flat = flat + self._scattered(found.transpose(1, 2).reshape(batch * rows, -1) @ o.T)
        y = self._gathered(of.rms_norm(flat, (columns,), other_norm, 1e-5))
        flat = flat + self._scattered(of.gelu(y @ up.T) @ down.T)
        return flat.view(x.shape)

    def _gathered(self, part: Any) -> Any:
        return self._collectives.all_gather_tensor(part, 0, self._group)

    def _scattered(self, share: Any) -> Any:
        return self._collectives.reduce_scatter_tensor(share, "sum", 0, self._group)


def _allow_overlap(dist: Any) -> None:
    """Lets torch.compile fuse collectives with the products beside them."""
    inductor: Any = import_module("torch._inductor.config")
    inductor._micro_pipeline_tp = True
    symmetric: Any = import_module("torch.distributed._symmetric_memory")
    symmetric.enable_symm_mem_for_group(dist.group.WORLD.group_name)


def _part(whole: Any, word: str | None, rank: int, size: int) -> Any:
    return whole if word is None else whole.chunk(size, int(word[5:]))[rank].contiguous()


def _seconds(run: Callable[[], object], dist: Any) -> float:
    import torch

    times: list[float] = []
    for _ in range(_REPEAT + 5):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        dist.barrier()
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3)
    return sorted(times[5:])[_REPEAT // 2]


def _longest(seconds: float, dist: Any) -> float:
    import torch

    found = torch.tensor([seconds], device="cuda")
    dist.all_reduce(found, op=dist.ReduceOp.MAX)
    return float(found)


if __name__ == "__main__":
    sys.exit(main())

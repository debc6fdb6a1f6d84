"""Torch models over a mesh: what the devices' parts are is the single device's result."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
import torch

from support.driver import Hirc
from support.spreads import may_divide, part

from .conftest import RunTeam

Row = Sequence[str]
_WHOLE, SHARE = "whole", "partial:sum"

BLOCK = """
import torch
from torch import nn
from torch.distributed.tensor import Replicate, Shard
from torch.nn.functional import gelu, scaled_dot_product_attention


class Block(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        y = self.first_norm(x)
        q, k, v = (
            each(y).view(b, t, self.heads, -1).transpose(1, 2) for each in (self.q, self.k, self.v)
        )
        heads = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(heads.transpose(1, 2).reshape(b, t, c))
        return x + self.down(gelu(self.up(self.second_norm(x))))


torch.manual_seed(3)
block = Block().eval()


def get_inputs():
    return [torch.rand(2, 8, 32)]


def mesh():
    return MESH


def shardings():
    rest = (Replicate(),) * (len(MESH) - 1)
    return {
        "[qkv].*": (*rest, Shard(0)),
        "up.*": (*rest, Shard(0)),
        "o.weight": (*rest, Shard(-1)),
        "down.weight": (*rest, Shard(1)),
    }
"""


@pytest.mark.parametrize(
    ("mesh", "spreads"),
    [
        ((4,), [_WHOLE]),
        ((2,), ["axis:0"]),
        ((2, 2), ["axis:0", "axis:1"]),
    ],
)
def test_tensor_parallel_block(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path, mesh: tuple[int, ...], spreads: Row
) -> None:
    """Heads and the layers between are divided; of the second mesh the batch, of the third the
    sequence too. Where rows arrive and leave they do so in steps.
    """
    (tmp_path / "model.py").write_text(BLOCK.replace("MESH", str(mesh)))
    space: dict[str, object] = {}
    exec(compile(BLOCK.replace("MESH", str(mesh)), "model", "exec"), space)
    block = space["block"]
    assert isinstance(block, torch.nn.Module)
    x = torch.randn(2, 8, 32, generator=torch.Generator().manual_seed(1))
    words = [f"--sharding={name}={','.join(spreads)}" for name in ("x", "output0")]
    options = ("--offload-arch=cpu", "--overlap-steps=2", *words)
    if mesh == (2,):
        given = hirc.succeeds(
            f"{tmp_path}/model.py:block", *options, "--stop-after=allocations", "-o", "-"
        )
        found = re.findall('overlap = "([a-z-]*), 2 steps', given.output)
        assert found == ["allgather", "reduce-scatter"] * 2
        options += ("--check=memory,race",)
    hirc.succeeds(f"{tmp_path}/model.py:block", *options, "-o", tmp_path / "prog")
    rows = {"x": spreads, "output0": spreads}
    _check(run_team, tmp_path, mesh, rows, {"x": x}, {"output0": block(x).detach()})


@pytest.mark.parametrize(("mesh", "seed"), [((4,), 1), ((2, 2), 5)])
def test_drawn_models(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path, mesh: tuple[int, ...], seed: int
) -> None:
    """Operations, sizes and placements are drawn; each model has several outputs."""
    drawn = Drawn(seed, mesh)
    (tmp_path / "model.py").write_text(drawn.text)
    hirc.succeeds(
        f"{tmp_path}/model.py:model", "--offload-arch=cpu", "-O0", "-o", tmp_path / "prog"
    )
    _check(run_team, tmp_path, mesh, drawn.table, drawn.inputs, drawn.outputs)


def _check(
    run_team: RunTeam,
    folder: Path,
    mesh: tuple[int, ...],
    table: Mapping[str, Row],
    inputs: Mapping[str, torch.Tensor],
    outputs: Mapping[str, torch.Tensor],
) -> None:
    places = list(product(*map(range, mesh)))
    for rank, place in enumerate(places):
        for name, whole in inputs.items():
            given = given_to(whole, table[name], mesh, place)
            np.save(folder / f"{name}.{rank}.npy", given.numpy())
    words = [f"--input={name}={folder}/{name}.%r.npy" for name in inputs]
    words += [f"--output={name}={folder}/{name}.%r.npy" for name in outputs]
    ended = run_team([[folder / "prog", *words]] * len(places))
    assert [(each.status, each.errors) for each in ended] == [(0, "")] * len(places)
    for name, whole in outputs.items():
        row = table[name]
        given = [
            torch.from_numpy(np.load(folder / f"{name}.{rank}.npy")) for rank in range(len(places))
        ]
        kept = [axis for axis, each in enumerate(row) if each != SHARE]
        for place in places:
            # The parts of the devices that differ from this one along axes of shares alone.
            of = [
                each
                for each, other in zip(given, places, strict=True)
                if all(other[axis] == place[axis] for axis in kept)
            ]
            wanted = part(whole, row, mesh, place)
            assert of[0].shape == wanted.shape, name
            torch.testing.assert_close(
                torch.stack(of).sum(0), wanted, rtol=1e-3, atol=1e-3, equal_nan=True, msg=name
            )


def given_to(
    whole: torch.Tensor, row: Row, mesh: Sequence[int], place: tuple[int, ...]
) -> torch.Tensor:
    """Returns the part of an input that the device at a place of the mesh is handed."""
    shares = prod(size for size, each in zip(mesh, row, strict=True) if each == SHARE)
    return part(whole / shares, row, mesh, place)


class Drawn:
    """A model of drawn operations on drawn sizes, and a table for it."""

    def __init__(self, seed: int, mesh: tuple[int, ...]) -> None:
        self._random = random.Random(seed)
        torch.manual_seed(seed)
        self._mesh = mesh
        self.inputs = {f"x{number}": torch.randn(self._shape()) for number in range(4)}
        self._values = dict(self.inputs)
        self._lines: list[str] = []
        ends = [self._chain() for _ in range(8)]
        self.outputs = {end: self._values[end] for end in ends if end not in self.inputs}
        drawn = {**self.inputs, **self.outputs}
        self.table = {name: self._row(value) for name, value in drawn.items()}
        zeros = ", ".join(f"torch.zeros({tuple(each.shape)})" for each in self.inputs.values())
        self.text = "\n".join(
            [
                "import torch",
                f"def model({', '.join(self.inputs)}):",
                *(f"    {line}" for line in self._lines),
                f"    return dict({', '.join(f'{name}={name}' for name in self.outputs)})",
                f"mesh, shardings = {mesh}, {self.table}",
                f"def get_inputs(): return [{zeros}]",
            ]
        )

    def _shape(self) -> tuple[int, ...]:
        rank = self._random.choice([1, 2, 2, 3, 3, 4])
        return tuple(self._random.choice([4, 8, 8, 16, 3, 1]) for _ in range(rank))

    def _chain(self) -> str:
        name = self._random.choice(list(self._values))
        for _ in range(self._random.randint(1, 6)):
            expression = self._random.choice(self._expressions(name))
            try:
                value = eval(expression, {"torch": torch}, self._values)
            except (RuntimeError, ValueError, IndexError):
                continue
            if 0 < value.numel() < 5000:
                name = f"v{len(self._lines)}"
                self._values[name] = value
                self._lines.append(f"{name} = {expression}")
        return name

    def _expressions(self, x: str) -> list[str]:
        """What may be computed of a value; some of it torch refuses."""
        value, other = self._values[x], self._random.choice(list(self._values))
        found = [f"{x} * 2.0 + 1.0", f"{x}.tanh()", f"-{x}", f"{x} / 3.0"]
        found += [f"{x} * {other}", f"{x} + {other}", f"{x} @ {other}", f"{x} @ {other}"]
        if value.dim() == 0:
            return found
        dim, to = (self._random.randrange(value.dim()) for _ in range(2))
        size = value.shape[dim]
        found += [
            *(f"{x}.{name}({dim})" for name in ("sum", "softmax", "amax", "cumsum", "unsqueeze")),
            f"{x}.mean({dim}, keepdim=True)",
            f"{x}.argmax({dim}).float()",
            f"{x}.prod({dim}).tanh()",
            f"{x}.transpose({dim}, {to})",
            f"{x}.flatten({min(dim, to)}, {max(dim, to)})",
            f"{x}.narrow({dim}, {size // 4}, {max(size // 2, 1)})",
            f"torch.cat([{x}, {x} * 2], {dim})",
            f"{x}.roll(1, {dim})",
            f"torch.nn.functional.pad({x}, (0, 0) * {value.dim() - 1 - dim} + (1, 1))",
            f"{x} @ {x}.transpose(-1, -2)",
            f"torch.nn.functional.layer_norm({x}, ({value.shape[-1]},))",
        ]
        for count in (2, 4, 8):
            found += [
                f"{x}.unflatten({dim}, ({count}, -1))",
                f"{x}.unflatten({dim}, (-1, {count}))",
            ]
        return found

    def _row(self, value: torch.Tensor) -> tuple[str, ...]:
        row: list[str] = []
        for _ in self._mesh:
            choices = [_WHOLE, SHARE]
            for dim in range(value.dim()):
                word = f"axis:{dim}"
                if may_divide(value.shape, [*row, word], self._mesh):
                    choices += [word, word]
            row.append(self._random.choice(choices))
        return tuple(row)

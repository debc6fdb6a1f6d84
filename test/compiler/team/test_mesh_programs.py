"""A program over a mesh, compiled: what its devices give is the single device's result."""

from __future__ import annotations

from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
import torch

from hirc import program as build
from hirc.compiler.errors import InputError
from hirc.compiler.interpreter import interpret_team
from hirc.dialects.hir.builder import Program
from support.driver import Hirc
from support.spreads import part

from .conftest import RunTeam

SHAPES = {"x": (8, 16), "w1": (32, 16), "b1": (32,), "w2": (16, 32), "b2": (16,)}


def layers(mesh: tuple[int, ...], rows: int | str) -> tuple[Program, dict[str, list[str]]]:
    """Two layers, the first divided by columns and the second by rows, beside a normalization.

    With the spreads of inputs and outputs. Of a mesh of two axes the first divides the batch.
    """
    batch = ["axis:0"] if len(mesh) == 2 else []
    rest = ["whole"] * len(batch)
    spreads = {
        "x": [*batch, "whole"],
        "w1": [*rest, "axis:0"],
        "b1": [*rest, "axis:0"],
        "w2": [*rest, "axis:1"],
        "b2": [*rest, "whole"],
        "y": [*batch, "axis:1" if batch else "axis:0"],
        "norm": [*rest, "whole"],
        "turned": [*rest, "axis:0"],
    }
    with build("main") as p:
        p.mesh(mesh)
        x = p.input("x", (rows, 16), "f32", spread=spreads["x"])
        w1, b1, w2, b2 = (
            p.input(name, SHAPES[name], "f32", spread=spreads[name])
            for name in ("w1", "b1", "w2", "b2")
        )
        h = p.linear(x, w1, b1).gelu()
        y = p.linear(h, w2, b2) + x
        p.output("y", y / (p.reduce("mean", y * y, [1], keep_dims=True) + 1.0).sqrt(), spreads["y"])
        p.output("norm", (h * h).sum(0), spreads["norm"])
        turned = h.permute(1, 0).reshape(4, 8, x.shape[0])
        p.output("turned", p.spread(turned, [*rest, "axis:1"]) * 2.0, spreads["turned"])
    return p, spreads


@pytest.mark.parametrize(("mesh", "rows"), [((3,), 7), ((2, 2), "n"), ((2, 4), 8)])
def test_agrees_with_one_device(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path, mesh: tuple[int, ...], rows: int | str
) -> None:
    program, spreads = layers(mesh, rows)
    generator = torch.Generator().manual_seed(4)
    count = rows if isinstance(rows, int) else 8
    shapes = {**SHAPES, "x": (count, 16)}
    wholes = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    h = torch.nn.functional.gelu(wholes["x"] @ wholes["w1"].T + wholes["b1"])
    y = h @ wholes["w2"].T + wholes["b2"] + wholes["x"]
    expected = {
        "y": y / ((y * y).mean(1, keepdim=True) + 1).sqrt(),
        "norm": (h * h).sum(0),
        "turned": h.T.reshape(4, 8, count) * 2,
    }
    places = list(product(*map(range, mesh)))
    parts = [
        {name: part(whole, spreads[name], mesh, place) for name, whole in wholes.items()}
        for place in places
    ]
    interpreted = interpret_team(program, parts)
    for rank, each in enumerate(parts):
        for name, given in each.items():
            np.save(tmp_path / f"{name}.{rank}.npy", given.numpy())
    (tmp_path / "prog.mlir").write_text(str(program))
    hirc.succeeds(tmp_path / "prog.mlir", "--offload-arch=cpu", "-o", tmp_path / "prog")
    words = [f"--input={name}={tmp_path}/{name}.%r.npy" for name in wholes]
    words += [f"--output={name}={tmp_path}/{name}.%r.npy" for name in expected]
    ended = run_team([[tmp_path / "prog", *words]] * prod(mesh))
    assert [(each.status, each.errors) for each in ended] == [(0, "")] * prod(mesh)
    for rank, place in enumerate(places):
        for number, (name, whole) in enumerate(expected.items()):
            wanted = part(whole, spreads[name], mesh, place)
            given = torch.from_numpy(np.load(tmp_path / f"{name}.{rank}.npy"))
            torch.testing.assert_close(given, wanted, rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(interpreted[rank][number], wanted, rtol=1e-4, atol=1e-4)
    if mesh != (3,):
        return
    # Of 32 rows the third of three devices has ten.
    words = [word.replace("%r", "0") for word in words]
    ended = run_team([[tmp_path / "prog", *words]] * 3)
    assert "of the 32 elements of dim 0 the first of 3 devices have 11 each" in ended[2].errors
    assert all(each.status for each in ended)
    parts[2]["w1"] = parts[0]["w1"]
    with pytest.raises(InputError, match=r"\(11, 16\) on device 2, whose part is \(10, 16\)"):
        interpret_team(program, parts)


def test_devices_that_need_nothing_of_each_other(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path
) -> None:
    """They are processes with a rank all the same: each reads and writes its own part."""
    with build("main") as p:
        p.mesh((2,))
        x = p.input("x", ("n", 3), "f32", spread=["axis:0"])
        p.output("y", x * 2.0, spread=["axis:0"])
    source, built = tmp_path / "prog.mlir", tmp_path / "prog"
    source.write_text(str(p))
    hirc.succeeds(source, "--offload-arch=cpu", "-o", built)
    for rank in range(2):
        np.save(tmp_path / f"x.{rank}.npy", np.full((rank + 1, 3), rank + 1, np.float32))
    words = [built, f"--input={tmp_path}/x.%r.npy", f"--output={tmp_path}/y.%r.npy"]
    ended = run_team([words] * 2)
    assert [(each.status, each.errors) for each in ended] == [(0, "")] * 2
    for rank in range(2):
        given = np.load(tmp_path / f"y.{rank}.npy")
        np.testing.assert_array_equal(given, np.full((rank + 1, 3), 2 * rank + 2, np.float32))

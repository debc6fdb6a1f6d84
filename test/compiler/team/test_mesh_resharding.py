"""Buffers spread over meshes of devices, and spread otherwise, beside the interpreter's team."""

from __future__ import annotations

import random
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from hirc import program as build
from hirc.compiler.interpreter import interpret_team
from support.driver import Hirc

from .conftest import RunTeam

Array = NDArray[np.float32]
_WHOLE = (8, 16)
_SPREADS = ("whole", "axis:0", "axis:1", "partial:sum")
Change = tuple[tuple[str, ...], tuple[str, ...]]


def _part(spreads: tuple[str, ...], mesh: tuple[int, ...], place: tuple[int, ...]) -> Array:
    """What the device at a place of the mesh has of a whole; shares of a sum are its place's."""
    part = np.arange(prod(_WHOLE), dtype=np.float32).reshape(_WHOLE)
    for spread, size, at in zip(spreads, mesh, place, strict=True):
        if spread.startswith("axis"):
            part = np.split(part, size, int(spread[-1]))[at]
        if spread.startswith("partial"):
            # The shares' factors are 1, 2, ... and the last one's makes up for the others.
            part = part * (at + 1 if at + 1 < size else 1 - sum(range(1, size)))
    return np.ascontiguousarray(part)


def _changes(axes: int, number: int) -> list[Change]:
    """Some of all changes, among them those of one axis and of the order of axes."""
    every = [
        (before, after)
        for before in product(_SPREADS, repeat=axes)
        for after in product(_SPREADS, repeat=axes)
        if before != after
        and all(
            not there.startswith("partial") or here == there
            for here, there in zip(before, after, strict=True)
        )
    ]
    always = [(("axis:0", "axis:1"), ("axis:1", "axis:0")), (("whole", "axis:0"), ("axis:0",) * 2)]
    always += [(("axis:1",) * 2, ("whole",) * 2), (("partial:sum",) * 2, ("axis:0", "axis:0"))]
    chosen = [(tuple(a), tuple(b)) for a, b in always] if axes == 2 else []
    return chosen + random.Random(3).sample(every, number - len(chosen))


@pytest.mark.parametrize(
    ("mesh", "number", "is_open"),
    [((2, 2), 12, False), ((2, 4), 8, True), ((2, 2, 2), 8, False)],
)
def test_changes_over_a_mesh(
    hirc: Hirc,
    run_team: RunTeam,
    tmp_path: Path,
    mesh: tuple[int, ...],
    number: int,
    is_open: bool,
) -> None:
    changes = _changes(len(mesh), number)
    devices = list(range(prod(mesh)))
    places = list(product(*map(range, mesh)))
    spreads = sorted({before for before, _ in changes})
    with build("main") as p:
        inputs = {
            spread: p.input(
                f"x{i}",
                (f"n{i}", f"m{i}") if is_open else _part(spread, mesh, places[0]).shape,
                "f32",
            )
            for i, spread in enumerate(spreads)
        }
        for i, (before, after) in enumerate(changes):
            p.output(f"y{i}", p.reshard(inputs[before], before, after, devices, mesh=mesh))
    values = [
        {f"x{i}": _part(spread, mesh, place) for i, spread in enumerate(spreads)}
        for place in places
    ]
    expected = interpret_team(
        p, [{name: torch.from_numpy(array) for name, array in each.items()} for each in values]
    )
    for rank, place in enumerate(places):
        for i, (before, after) in enumerate(changes):
            wanted = _part(after, mesh, place)
            np.testing.assert_array_equal(expected[rank][i].numpy(), wanted, f"{before} {after}")
    for rank, each in enumerate(values):
        for name, array in each.items():
            np.save(tmp_path / f"{name}.{rank}.npy", array)
    (tmp_path / "prog.mlir").write_text(str(p))
    hirc.succeeds(tmp_path / "prog.mlir", "--offload-arch=cpu", "-o", tmp_path / "prog")
    words = [f"--input=x{i}={tmp_path}/x{i}.%r.npy" for i in range(len(spreads))]
    words += [f"--output=y{i}={tmp_path}/y{i}.%r.npy" for i in range(len(changes))]
    ended = run_team([[tmp_path / "prog", *words]] * len(devices))
    assert [(each.status, each.errors) for each in ended] == [(0, "")] * len(devices)
    for rank in devices:
        for i, change in enumerate(changes):
            given = np.load(tmp_path / f"y{i}.{rank}.npy")
            wanted = expected[rank][i].numpy()
            np.testing.assert_array_equal(given, wanted, f"{change} on device {rank}")

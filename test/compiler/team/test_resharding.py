"""Buffers spread over devices in every way, and spread otherwise, beside the interpreter's team."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from hirc import program as build
from hirc.compiler.interpreter import interpret_team
from support.driver import Hirc

from .conftest import RunTeam

# The whole is 12x12; a device's part of it by how it is spread over two or three.
_WHOLE = 12


def _part(spread: str, size: int) -> tuple[int, int]:
    rows, columns = _WHOLE, _WHOLE
    if spread == "axis:0":
        rows //= size
    if spread == "axis:1":
        columns //= size
    return rows, columns


@pytest.mark.parametrize("size", [2, 3])
def test_every_change_within_a_team(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path, size: int
) -> None:
    spreads = ("whole", "axis:0", "axis:1", "partial:sum", "partial:max")
    changes = [
        (before, after)
        for before in spreads
        for after in spreads
        if not after.startswith("partial") or before == after
    ]
    team = list(range(size))
    with build("main") as p:
        inputs = {
            spread: p.input(spread.replace(":", "_"), _part(spread, size), "f32")
            for spread in spreads
        }
        for number, (before, after) in enumerate(changes):
            p.output(f"y{number}", p.reshard(inputs[before], before, after, team) + 0.0)
    generator = np.random.default_rng(5)
    whole = generator.integers(0, 9, (_WHOLE, _WHOLE)).astype(np.float32)
    values: list[dict[str, torch.Tensor]] = []
    for rank in range(size):
        own: dict[str, torch.Tensor] = {}
        for spread in spreads:
            if spread == "whole":
                array = whole
            elif spread.startswith("axis"):
                array = np.split(whole, size, int(spread[-1]))[rank]
            else:
                array = generator.integers(0, 9, (_WHOLE, _WHOLE)).astype(np.float32)
            name = spread.replace(":", "_")
            own[name] = torch.from_numpy(np.ascontiguousarray(array))
            np.save(tmp_path / f"{name}.{rank}.npy", array)
        values.append(own)
    expected = interpret_team(p, values)
    source, built = tmp_path / "prog.mlir", tmp_path / "prog"
    source.write_text(str(p))
    hirc.succeeds(source, "--offload-arch=cpu", "-o", built)
    words = [f"--input={name}={tmp_path}/{name}.%r.npy" for name in values[0]]
    words += [f"--output=y{i}={tmp_path}/y{i}.%r.npy" for i in range(len(changes))]
    ended = run_team([[built, *words]] * size)
    assert [(each.status, each.errors) for each in ended] == [(0, "")] * size
    for rank in range(size):
        for number, change in enumerate(changes):
            given = np.load(tmp_path / f"y{number}.{rank}.npy")
            wanted = expected[rank][number].numpy()
            np.testing.assert_array_equal(given, wanted, err_msg=f"{change} on rank {rank}")
    # The interpreter's own meaning, against numpy.
    for rank in range(size):
        gathered = expected[rank][changes.index(("axis:1", "whole"))].numpy()
        np.testing.assert_array_equal(gathered, whole)
        part = expected[rank][changes.index(("axis:0", "axis:1"))].numpy()
        np.testing.assert_array_equal(part, np.split(whole, size, 1)[rank])
        summed = sum(each["partial_sum"].numpy() for each in values)
        scattered = expected[rank][changes.index(("partial:sum", "axis:0"))].numpy()
        np.testing.assert_array_equal(scattered, np.split(summed, size, 0)[rank])

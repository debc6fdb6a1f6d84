"""Communication whose roots, peers and teams only the run knows, beside the interpreter's team."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from hirc import program as build
from hirc.compiler.errors import InputError
from hirc.compiler.interpreter import interpret_team
from hirc.dialects.hir.builder import Program
from hirc.tools.hirc import main as hirc

from .conftest import RunTeam

_DEVICES = 4


def _program() -> tuple[Program, list[str]]:
    """A ring, a pipeline's step, roots that are inputs, and the rows and columns of 2x2 devices."""
    names: list[str] = []
    with build("main") as p:
        everybody = p.communicator(list(range(_DEVICES)))
        n = p.size("n")
        x = p.input("x", (n, 3), "f32")
        root = p.scalar("root", "index")
        rank = p.rank(everybody)

        def give(name: str, out: object) -> None:
            p.output(name, out)  # type: ignore[arg-type]
            names.append(name)

        ring = p.allocate((n, 3), "f32")
        following, previous = (rank + 1) % _DEVICES, (rank - 1) % _DEVICES
        p.communicate("send-recv", x, ring, everybody, peers=(following, previous)).wait()
        give("ring", ring)
        # The last sends to nobody, and nobody sends to the first.
        shifted = p.allocate((n, 3), "f32", zero_init=True)
        to = following - (rank + 1) // _DEVICES
        with p.coalesce() as group:
            p.communicate("send-recv", x, shifted, everybody, peers=(to, rank - 1))
        group.wait()
        give("shifted", shifted)
        for kind, rows, reduction in (
            ("broadcast", n, None),
            ("gather", n * _DEVICES, None),
            ("scatter", n // _DEVICES, None),
            ("reduce", n, "sum"),
        ):
            out = p.allocate((rows, 3), "f32", zero_init=True)
            p.communicate(kind, x, out, everybody, reduction=reduction, peers=(root,)).wait()
            give(kind, out)
        for name, teams in (("rows", [[0, 1], [2, 3]]), ("columns", [[0, 2], [1, 3]])):
            team = p.communicators(teams)
            total = p.allocate((n, 3), "f32")
            p.communicate("allreduce", x, total, team, reduction="sum").wait()
            give(name, total)
            out = p.allocate((n, 3), "f32")
            p.communicate("broadcast", x, out, team, peers=(team.size - 1,)).wait()
            give(f"{name}_last", out)
    return p, names


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, list[str], Path]:
    program, names = _program()
    folder = tmp_path_factory.mktemp("peers")
    (folder / "prog.mlir").write_text(str(program))
    words = [str(folder / "prog.mlir"), "--offload-arch=cpu", "-o", str(folder / "prog")]
    assert hirc(words) == 0
    return program, names, folder / "prog"


@pytest.mark.parametrize("root", [0, 2])
def test_agrees_with_the_interpreter(
    built: tuple[Program, list[str], Path], run_team: RunTeam, tmp_path: Path, root: int
) -> None:
    program, names, path = built
    values = [np.full((4, 3), 10.0**rank, np.float32) for rank in range(_DEVICES)]
    expected = interpret_team(program, [[torch.from_numpy(each), root] for each in values])
    for rank, each in enumerate(values):
        np.save(tmp_path / f"x.{rank}.npy", each)
    words = [f"--input=x={tmp_path}/x.%r.npy", f"--input=root={root}"]
    words += [f"--output={name}={tmp_path}/{name}.%r.npy" for name in names]
    ended = run_team([[path, *words]] * _DEVICES)
    assert [(each.status, each.errors) for each in ended] == [(0, "")] * _DEVICES
    for rank in range(_DEVICES):
        results = dict(zip(names, expected[rank], strict=True))
        for name, wanted in results.items():
            given = np.load(tmp_path / f"{name}.{rank}.npy")
            np.testing.assert_array_equal(given, wanted.numpy(), err_msg=f"{name} of {rank}")
        assert float(results["ring"][0, 0]) == 10.0 ** ((rank - 1) % _DEVICES)
        assert float(results["shifted"][0, 0]) == (10.0 ** (rank - 1) if rank else 0.0)
        assert float(results["columns"][0, 0]) == sum(10.0 ** (rank % 2 + row) for row in (0, 2))


def test_a_root_that_is_none(built: tuple[Program, list[str], Path], run_team: RunTeam) -> None:
    program, _, path = built
    ended = run_team([[path, "--input=4x3xf32=1", f"--input=root={_DEVICES}"]] * _DEVICES)
    assert all(each.status == 1 for each in ended)
    assert any("place 4 of a team of 4, where places are 0 to 3" in each.errors for each in ended)
    with pytest.raises(InputError, match="place 4 of a team of 4"):
        interpret_team(program, [[torch.ones(4, 3), _DEVICES]] * _DEVICES)


def test_peers_that_do_not_fit() -> None:
    """Where a device sends to one that receives from another, the interpreter names both."""
    with build("main") as p:
        team = p.communicator([0, 1])
        x = p.input("x", (2,), "f32")
        out = p.allocate((2,), "f32", zero_init=True)
        p.communicate("send-recv", x, out, team, peers=(0, p.rank(team))).wait()
        p.output("y", out)
    with pytest.raises(InputError, match=r"receives from ., and those that send to it are"):
        interpret_team(p, [[torch.ones(2)]] * 2)

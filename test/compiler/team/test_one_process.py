"""All devices of a team in one process: each has a copy of the library, and a thread."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from hirc import program as build
from hirc.compiler.errors import ExecutionError, HircError, InputError
from hirc.compiler.interpreter import interpret_team
from hirc.compiler.loader_team import Team, load_team
from support.driver import Hirc

from .test_communication import every_kind
from .test_overlap import overlapping_inputs, overlapping_program


def _team(library: Path, size: int) -> Team:
    return load_team(library, range(size))


def _built(hirc: Hirc, folder: Path, text: str, *options: str) -> Path:
    source, library = folder / "prog.mlir", folder / "libprog.so"
    source.write_text(text)
    hirc.succeeds(source, "--offload-arch=cpu", "-O0", "--emit=shared", *options, "-o", library)
    return library


def _sum(size: int) -> str:
    with build("main") as p:
        x = p.input("x", ("n",), "f32")
        y = p.allocate((x.shape[0],), "f32")
        p.communicate("allreduce", x, y, p.communicator(list(range(size))), reduction="sum").wait()
        p.output("y", y)
    return str(p)


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_every_kind(hirc: Hirc, tmp_path: Path, size: int) -> None:
    program, names = every_kind(size, "f32", 24)
    team = _team(_built(hirc, tmp_path, str(program)), size)
    generator = torch.Generator().manual_seed(3)
    inputs = [[torch.randint(-3, 4, (24, 3), generator=generator).float()] for _ in range(size)]
    wanted = interpret_team(program, inputs)
    # Several calls: the team is made once.
    for _ in range(2):
        given = team.main(*inputs)
        for rank in range(size):
            for name, one, other in zip(names, given[rank], wanted[rank], strict=True):
                np.testing.assert_array_equal(one.numpy(), other.numpy(), err_msg=f"{name} {rank}")


def test_products_by_memory_that_devices_share(hirc: Hirc, tmp_path: Path) -> None:
    program = overlapping_program(3)
    team = _team(_built(hirc, tmp_path, str(program), "--overlap-by-peers"), 3)
    inputs = [
        [torch.from_numpy(value) for value in each]
        for each in overlapping_inputs(3, np.random.default_rng(3))
    ]
    wanted = interpret_team(program, inputs)
    for _ in range(2):
        given = team.main(*inputs)
        for rank in range(3):
            for one, other in zip(given[rank], wanted[rank], strict=True):
                np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_inputs_by_name_and_outputs_handed_in(hirc: Hirc, tmp_path: Path) -> None:
    team = _team(_built(hirc, tmp_path, _sum(2)), 2)
    out = [torch.zeros(3), torch.zeros(3)]
    given = team["main"]({"x": torch.ones(3)}, [torch.full((3,), 4.0)], out=out)
    assert [each.tolist() for each in out] == [[5.0] * 3] * 2
    assert all(one is other for one, other in zip(given, out, strict=True))
    assert "main" in dir(team)
    assert "on devices 0, 1" in repr(team)


def test_two_teams_beside_one_another(hirc: Hirc, tmp_path: Path) -> None:
    library = _built(hirc, tmp_path, _sum(2))
    teams = [_team(library, 2) for _ in range(2)]
    for value in (1.0, 2.0):
        for team in teams:
            (one, other) = team([torch.full((2,), value)], [torch.ones(2)])
            assert one.tolist() == other.tolist() == [value + 1] * 2


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ((torch.ones(2, dtype=torch.float64),), "f64"),
        ((torch.ones(2), torch.ones(2)), "takes 1 input, not 2"),
        (torch.ones(2), "are a tuple or a dictionary"),
    ],
)
def test_a_call_that_one_device_refuses_ends_all(
    hirc: Hirc, tmp_path: Path, wrong: object, message: str
) -> None:
    team = _team(_built(hirc, tmp_path, _sum(2)), 2)
    before = time.monotonic()
    with pytest.raises(InputError, match=message):
        team.main((torch.ones(2),), wrong)
    # The others do not wait for what never comes.
    assert time.monotonic() - before < 20
    with pytest.raises(ExecutionError, match="the call of rank 1 was refused"):
        team.main((torch.ones(2),), (torch.ones(2),))


def test_sizes_that_differ_are_an_error_of_all(hirc: Hirc, tmp_path: Path) -> None:
    team = _team(_built(hirc, tmp_path, _sum(2)), 2)

    def call() -> None:
        team.main((torch.ones(2),), (torch.ones(3),))
        # The CPU device's streams end with the call after.
        team.main((torch.ones(2),), (torch.ones(2),))

    with pytest.raises(HircError, match="the team disagrees"):
        call()


def test_what_is_no_team(hirc: Hirc, tmp_path: Path) -> None:
    library = _built(hirc, tmp_path, _sum(2))
    with pytest.raises(InputError, match="the devices of a team are their numbers"):
        load_team(library, [])
    with pytest.raises(InputError, match="takes inputs of each, 2 in all, not 1"):
        _team(library, 2).main((torch.ones(2),))
    with build("main") as p:
        p.output("y", p.input("x", (4,), "f32") + 1.0)
    with pytest.raises(InputError, match="has no program that communicates"):
        _team(_built(hirc, tmp_path, str(p)), 2)


_ENDS = """
import sys
import numpy as np
import hirc

team = hirc.load_team(sys.argv[1], [0, 1, 2])
print([each.tolist() for each in team.main(*[(np.ones(2, np.float32),)] * 3)], flush=True)
"""


def test_a_process_ends_at_once(hirc: Hirc, tmp_path: Path, loaded_commands: Path) -> None:
    """Whatever the order in which its copies of the library end."""
    library = _built(hirc, tmp_path, _sum(3))
    before = time.monotonic()
    done = subprocess.run(
        [loaded_commands / "python", "-c", _ENDS, str(library)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[[3.0, 3.0], [3.0, 3.0], [3.0, 3.0]]\n"
    assert time.monotonic() - before < 60

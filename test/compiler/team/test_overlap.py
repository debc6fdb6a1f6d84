"""Communications that overlap with products, run by teams: what the program gives in one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from hirc import program as build
from hirc.compiler.interpreter import interpret_team
from hirc.dialects.hir.builder import Program
from support.driver import Hirc

from .conftest import RunTeam

Array = NDArray[np.generic]
_STEPS = 4
_LOOPS = 5


def overlapping_program(size: int) -> Program:
    """Products beside each kind of communication, explicit and of resharding, with a bias."""
    with build("main") as p:
        team = p.communicator(list(range(size)))
        x = p.input("x", (4, 6), "f32")
        w, v = p.input("w", (5, 6), "f32"), p.input("v", (6, 5), "f32")
        bias = p.input("bias", (5,), "f32")
        tokens = p.input("tokens", (size, 2, 4, 6), "f32")
        experts = p.input("experts", (2, 6, 6), "f32")
        gathered = p.reshard(x, "axis:0", "whole", list(range(size)))
        first = p.linear(gathered, w, bias)
        p.output("first", first)
        p.output("second", p.matmul(gathered, v))
        part = p.allocate((4, 6), "f32")
        share = p.matmul(first, w)
        p.communicate("reduce-scatter", share, part, team, reduction="sum").wait()
        p.output("part", part)
        p.output("all", p.reshard(p.linear(part, w), "partial:sum", "whole", list(range(size))))
        own, back = (p.allocate((size, 2, 4, 6), "f32") for _ in range(2))
        p.communicate("all-to-all", tokens, own, team).wait()
        p.communicate("all-to-all", p.matmul(own, experts) * 2.0, back, team).wait()
        p.output("back", back)
        again = p.allocate((size, 2, 4, 6), "f32")
        p.communicate("all-to-all", p.matmul(tokens, experts), again, team).wait()
        p.output("again", again)
    return p


def overlapping_inputs(size: int, generator: np.random.Generator) -> list[list[Array]]:
    """Small whole numbers: their sums are the same in every order."""

    def draw(*shape: int) -> Array:
        return generator.integers(-3, 4, shape).astype(np.float32)

    return [
        [draw(4, 6), draw(5, 6), draw(6, 5), draw(5), draw(size, 2, 4, 6), draw(2, 6, 6)]
        for _ in range(size)
    ]


def _run(
    built: Path,
    names: Sequence[str],
    inputs: Sequence[Sequence[Array]],
    run_team: RunTeam,
    variables: Mapping[str, str] | None = None,
) -> list[list[Array]]:
    folder, size = built.parent, len(inputs)
    for rank, each in enumerate(inputs):
        for number, value in enumerate(each):
            np.save(folder / f"in{number}.{rank}.npy", value)
    arguments = [
        *(f"--input={folder}/in{number}.%r.npy" for number in range(len(inputs[0]))),
        *(f"--output={name}={folder}/{name}.%r.npy" for name in names),
    ]
    ended = run_team([[built, *arguments]] * size, variables)
    assert [(each.status, each.errors) for each in ended] == [(0, "")] * size
    return [[np.load(folder / f"{name}.{rank}.npy") for name in names] for rank in range(size)]


_NAMES = ("first", "second", "part", "all", "back", "again")


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("reaches", ["1", "0"])
def test_by_memory_of_peers(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path, size: int, reaches: str
) -> None:
    """With checks; and where the devices do not reach each other's memory."""
    program = overlapping_program(size)
    source, built = tmp_path / "prog.mlir", tmp_path / "prog"
    source.write_text(str(program))
    options = ("--offload-arch=cpu", "--overlap-by-peers")
    staged = hirc.succeeds(source, *options, "--stop-after=allocations", "-o", "-")
    # What is gathered, and the sums that are scattered; not the others.
    assert staged.output.count('"hir.shares_memory"') == 2
    hirc.succeeds(source, *options, "--check=memory,race", "-o", built)
    inputs = overlapping_inputs(size, np.random.default_rng(3))
    tensors = [[torch.from_numpy(value) for value in each] for each in inputs]
    expected = interpret_team(program, tensors)
    given = _run(built, _NAMES, inputs, run_team, {"HIRC_PEER_MEMORY": reaches})
    for rank in range(size):
        for name, one, wanted in zip(_NAMES, given[rank], expected[rank], strict=True):
            np.testing.assert_array_equal(one, wanted.numpy(), err_msg=f"{name} of rank {rank}")


def test_rows_with_matrices_of_their_own_go_in_steps(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path
) -> None:
    """What each device's rows are multiplied by differs: no part of them stands for all."""
    with build("main") as p:
        team = p.communicator([0, 1])
        x, w = p.input("x", (4, 6), "f32"), p.input("w", (2, 6, 5), "f32")
        z = p.input("z", (2, 4, 6), "f32")
        gathered, part = p.allocate((2, 4, 6), "f32"), p.allocate((4, 5), "f32")
        p.communicate("allgather", x, gathered, team).wait()
        p.output("first", p.matmul(gathered, w))
        p.communicate("reduce-scatter", p.matmul(z, w), part, team, reduction="sum").wait()
        p.output("part", part)
    source = tmp_path / "prog.mlir"
    source.write_text(str(p))
    options = ("--offload-arch=cpu", "--overlap-by-peers")
    staged = hirc.succeeds(source, *options, "--stop-after=allocations", "-o", "-")
    assert "hir.shares_memory" not in staged.output
    hirc.succeeds(source, *options, "-o", tmp_path / "prog")
    generator = np.random.default_rng(4)
    inputs: list[list[Array]] = [
        [
            generator.integers(-3, 4, shape).astype(np.float32)
            for shape in ((4, 6), (2, 6, 5), (2, 4, 6))
        ]
        for _ in range(2)
    ]
    expected = interpret_team(p, [[torch.from_numpy(value) for value in each] for each in inputs])
    given = _run(tmp_path / "prog", ("first", "part"), inputs, run_team)
    for rank in range(2):
        for one, wanted in zip(given[rank], expected[rank], strict=True):
            np.testing.assert_array_equal(one, wanted.numpy())


@pytest.mark.parametrize("size", [2, 4, 8])
def test_gives_what_one_step_gives(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path, size: int
) -> None:
    """With checks of memory, of waits that are missing, and of races."""
    program = overlapping_program(size)
    source, built = tmp_path / "prog.mlir", tmp_path / "prog"
    source.write_text(str(program))
    options = ("--offload-arch=cpu", f"--overlap-steps={_STEPS}")
    staged = hirc.succeeds(source, *options, "--stop-after=allocations", "-o", "-")
    assert staged.output.count("overlap = ") == _LOOPS
    hirc.succeeds(source, *options, "--check=memory,race", "-o", built)
    inputs = overlapping_inputs(size, np.random.default_rng(3))
    tensors = [[torch.from_numpy(value) for value in each] for each in inputs]
    expected = interpret_team(program, tensors)
    given = _run(built, _NAMES, inputs, run_team)
    for rank in range(size):
        for name, one, wanted in zip(_NAMES, given[rank], expected[rank], strict=True):
            np.testing.assert_array_equal(one, wanted.numpy(), err_msg=f"{name} of rank {rank}")


def test_sums_of_any_numbers_differ_by_rounding_at_most(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path
) -> None:
    """A product of fewer rows may be summed in another order: 2 k u of the sum of magnitudes."""
    with build("main") as p:
        p.mesh((2,))
        x = p.input("x", (8, 48), "f32", spread=["axis:0"])
        w = p.input("w", (6, 48), "f32", spread=["axis:0"])
        v = p.input("v", (10, 6), "f32", spread=["axis:1"])
        p.output("y", p.linear(p.linear(x, w), v), spread=["axis:0"])
    source = tmp_path / "prog.mlir"
    source.write_text(str(p))
    generator = np.random.default_rng(5)
    x, w, v = (generator.standard_normal(shape) for shape in ((8, 48), (6, 48), (10, 6)))
    inputs: list[list[Array]] = [
        [
            np.ascontiguousarray(part).astype(np.float32)
            for part in (x[4 * r : 4 * r + 4], w[3 * r : 3 * r + 3], v[:, 3 * r : 3 * r + 3])
        ]
        for r in range(2)
    ]
    given: list[Array] = []
    for steps in (1, 2):
        built = tmp_path / f"prog{steps}"
        hirc.succeeds(source, "--offload-arch=cpu", f"--overlap-steps={steps}", "-o", built)
        parts = _run(built, ["y"], inputs, run_team)
        given.append(np.concatenate([part[0] for part in parts]))
    bound = 2 * (48 + 6 + 2) * 2.0**-24 * (np.abs(x) @ np.abs(w).T @ np.abs(v).T)
    assert np.all(np.abs(np.subtract(given[0], given[1])) <= bound)
    assert np.all(np.abs(np.subtract(given[1], x @ w.T @ v.T)) <= bound)


@pytest.mark.parametrize(
    ("check", "message"), [("memory", "read of memory that nothing wrote"), ("race", "race")]
)
def test_a_wait_on_another_stream_is_found(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path, check: str, message: str
) -> None:
    """The checks hear of what communications write: what is read without waiting for it is."""
    with build("main") as p:
        x = p.input("x", (4,), "f32")
        team = p.communicator([0, 1])
        received = p.allocate((4,), "f32")
        request = p.communicate("allreduce", x, received, team, reduction="sum")
        here, side = p.current_stream(), p.stream("side")
        with side:
            request.wait()
        y = received + 1.0
        p.wait_stream(here, side)
        p.output("y", y)
    source, built = tmp_path / "prog.mlir", tmp_path / "prog"
    source.write_text(str(p))
    hirc.succeeds(source, "--offload-arch=cpu", f"--check={check}", "-o", built)
    ended = run_team([[built, "--input=4xf32=1"]] * 2)
    assert any(each.status != 0 and message in each.errors for each in ended)


def test_steps_are_none_or_more(hirc: Hirc, tmp_path: Path) -> None:
    source = tmp_path / "prog.mlir"
    source.write_text("module {}")
    errors = hirc.fails(source, "--overlap-steps=-1", "--offload-arch=cpu")
    assert "--overlap-steps is 0 or more, not -1" in errors


def _leaving(kind: str, size: int, rows: int) -> Program:
    """Sums that are scattered by rows, of products of several kinds."""
    given = "i32" if kind == "integers" else "f32"
    element = "bf16" if kind == "rounded" else given
    shapes = {"x": (rows * size, 6), "w": (5, 6), "v": (6, 5), "bias": (5,)}
    with build("main") as p:
        team = p.communicator(list(range(size)))
        inputs = [p.input(name, shape, given) for name, shape in shapes.items()]
        x, w, v, bias = (each.cast(element) for each in inputs)
        part = p.allocate((rows, 5), element)
        if kind == "turned":
            share = p.matmul(x, v)
        else:
            share = p.linear(x, w, bias) if kind == "biased" else p.linear(x, w)
        p.communicate("reduce-scatter", share, part, team, reduction="sum").wait()
        p.output("part", part.cast("f32"))
    return p


# Of 8 and 6 rows a device's sums are made in 4 and 3 pieces.
@pytest.mark.parametrize(
    ("kind", "size", "rows"),
    [
        ("plain", 2, 8),
        ("plain", 3, 6),
        ("biased", 3, 8),
        ("turned", 4, 3),
        ("rounded", 2, 6),
        ("integers", 3, 8),
    ],
)
def test_sums_go_around_the_devices(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path, kind: str, size: int, rows: int
) -> None:
    program = _leaving(kind, size, rows)
    source, built = tmp_path / "prog.mlir", tmp_path / "prog"
    source.write_text(str(program))
    options = ("--offload-arch=cpu", "--overlap-by-peers", "--overlap-steps=4", "-O0")
    staged = hirc.succeeds(source, *options, "--stop-after=allocations", "-o", "-")
    pieces = max(each for each in range(1, 5) if rows % each == 0)
    assert staged.output.count('"hir.put"') == (size - 1) * pieces
    hirc.succeeds(source, *options, "--check=memory,race", "-o", built)
    generator = np.random.default_rng(rows)
    shapes = ((rows * size, 6), (5, 6), (6, 5), (5,))
    whole = [[generator.integers(-3, 4, shape) for shape in shapes] for _ in range(size)]
    element = np.int32 if kind == "integers" else np.float32
    inputs = [[value.astype(element) for value in each] for each in whole]
    given = _run(built, ("part",), inputs, run_team)
    shares = [
        x @ (v if kind == "turned" else w.T) + (bias if kind == "biased" else 0)
        for x, w, v, bias in whole
    ]
    sums = np.sum(shares, axis=0)
    for rank in range(size):
        np.testing.assert_array_equal(given[rank][0], sums[rank * rows : (rank + 1) * rows])

"""What processes of a team compute together on the CPU device, beside the interpreter's team."""

from __future__ import annotations

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

_REDUCTIONS = ("sum", "prod", "min", "max")
_NUMPY = {"f32": np.float32, "f16": np.float16, "i64": np.int64, "ui8": np.uint8, "i16": np.int16}
Array = NDArray[np.generic]


def every_kind(size: int, element: str, rows: int, name: str = "main") -> tuple[Program, list[str]]:
    """A program with an output for each kind of communication of an input of `rows` rows.

    With the outputs' names.
    """
    names: list[str] = []
    with build(name) as p:
        team = p.communicator(list(range(size)))
        x = p.input("x", (rows, 3), element)

        def add(name: str, shape: tuple[int, ...], kind: str, **more: object) -> None:
            y = p.allocate(shape, element, zero_init=True)
            p.communicate(kind, x, y, team, **more).wait()  # type: ignore[arg-type]
            p.output(name, y)
            names.append(name)

        part = rows // size
        add("gather", (size, rows, 3), "gather", root=size - 1)
        add("allgather", (size, rows, 3), "allgather")
        add("scatter", (part, 3), "scatter", root=0)
        add("broadcast", (rows, 3), "broadcast", root=size - 1)
        add("all_to_all", (rows, 3), "all-to-all")
        add("permute", (rows, 3), "permute", to=[(i + 1) % size for i in range(size)])
        if size == 2:
            add("send_recv", (rows, 3), "send-recv", root=1)
        grouped = [p.allocate((rows, 3), element, zero_init=True) for _ in range(2)]
        with p.coalesce() as group:
            p.communicate("permute", x, grouped[0], team, to=[(i - 1) % size for i in range(size)])
            p.communicate("all-to-all", x, grouped[1], team)
        group.wait()
        for number, each in enumerate(grouped):
            p.output(f"grouped{number}", each)
            names.append(f"grouped{number}")
        if element == "i16":
            return p, names
        add("reduce", (rows, 3), "reduce", root=size - 1, reduction="sum")
        add("reduce_scatter", (part, 3), "reduce-scatter", reduction="sum")
        for reduction in _REDUCTIONS:
            add(f"all_{reduction}", (rows, 3), "allreduce", reduction=reduction)
        if element[0] in "fb":
            add("average", (rows, 3), "allreduce", reduction="avg")
    return p, names


def inputs_of(size: int, element: str, rows: int) -> list[Array]:
    generator = np.random.default_rng(7)
    kind = _NUMPY[element]
    # Small whole numbers: sums and products of them are exact in every type and order.
    return [generator.integers(0, 4, (rows, 3)).astype(kind) for _ in range(size)]


@pytest.mark.parametrize(
    ("size", "element", "rows"),
    [(2, "f32", 6), (3, "ui8", 3), (4, "i64", 0), (2, "i16", 30000), (2, "f16", 20002)],
)
def testevery_kind(
    hirc: Hirc, run_team: RunTeam, tmp_path: Path, size: int, element: str, rows: int
) -> None:
    """Small, empty and larger than what fits between two processes at a time."""
    program, names = every_kind(size, element, rows)
    inputs = inputs_of(size, element, rows)
    expected = interpret_team(program, [[torch.from_numpy(each)] for each in inputs])
    source, built = tmp_path / "prog.mlir", tmp_path / "prog"
    source.write_text(str(program))
    hirc.succeeds(source, "--offload-arch=cpu", "-o", built)
    for rank, each in enumerate(inputs):
        np.save(tmp_path / f"x.{rank}.npy", each)
    outputs = [f"--output={name}={tmp_path}/{name}.%r.npy" for name in names]
    ended = run_team([[built, f"--input={tmp_path}/x.%r.npy", *outputs]] * size)
    assert [(each.status, each.errors) for each in ended] == [(0, "")] * size
    for rank in range(size):
        for name, wanted in zip(names, expected[rank], strict=True):
            given = np.load(tmp_path / f"{name}.{rank}.npy")
            np.testing.assert_array_equal(given, wanted.numpy(), err_msg=f"{name} of rank {rank}")

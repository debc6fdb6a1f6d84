"""Programs over meshes: what is divided means what the whole does, for random programs."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from random import Random

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hirc import program as build
from hirc.compiler.errors import InputError
from hirc.compiler.interpreter import interpret, interpret_team
from hirc.compiler.parse import parse
from hirc.compiler.session import Session
from hirc.compiler.source import Source
from hirc.dialects.hir.builder import Buffer, Program
from hirc.dialects.hir.mesh import Mesh
from hirc.pipelines.pipeline import parse_pipeline, run_steps
from support.spreads import may_divide, part

Spreads = tuple[str, ...]
# Of three devices the last has less than others of 8 or 16 elements; the fifth has none of 16.
_MESHES = [(2,), (3,), (4,), (5,), (2, 2), (3, 2)]


@dataclass
class Made:
    """A program over a mesh, the same on one device, and its inputs' and outputs' spreads."""

    over_mesh: Program
    alone: Program
    mesh: tuple[int, ...]
    inputs: list[tuple[tuple[int, ...], Spreads]]
    outputs: list[Spreads]


@st.composite
def _spreads(draw: st.DrawFn, shape: tuple[int, ...], mesh: tuple[int, ...]) -> Spreads:
    """Spreads that may divide a shape, drawn axis by axis."""
    words = ["whole", *(f"axis:{axis}" for axis in range(len(shape)))]
    found: list[str] = []
    for _ in mesh:
        fitting = [word for word in words if may_divide(shape, [*found, word], mesh)]
        found.append(draw(st.sampled_from(fitting)))
    return tuple(found)


def _step(draw: Random, p: Program, values: list[Buffer]) -> Buffer:
    """One more operation on what there is: drawn alike for both programs."""
    x = values[draw.randrange(len(values))]
    sizes = [int(size) for size in x.shape]  # type: ignore[arg-type]
    kind = draw.choice(_KINDS)
    if kind == "transpose" and x.rank == 2:
        return x.permute(1, 0)
    if kind == "reshape" and x.rank == 2:
        return x.reshape(sizes[0], 2, sizes[1] // 2)
    if kind == "flatten" and x.rank > 1:
        return x.reshape(sizes[0] * sizes[1], *sizes[2:])
    if kind == "select" and x.rank > 1 and min(sizes) > 0:
        axis = draw.randrange(x.rank)
        return p.select(x, axis, min(1, sizes[axis] - 1))
    if kind == "slice" and x.rank:
        axis = draw.randrange(x.rank)
        return p.slice(x, axis, 0, sizes[axis] // 2) + 0.0
    if kind in ("sum", "max", "mean") and x.rank:
        axis = draw.randrange(x.rank)
        keeps = draw.random() < 0.5
        total = p.reduce(kind, x, [axis], keep_dims=keeps)
        return total.expand(*sizes) if keeps and draw.random() < 0.5 else total
    if kind in ("matmul", "linear", "add", "mul"):
        fitting = [y for y in values if _fits(kind, x, y)]
        if fitting:
            y = draw.choice(fitting)
            if kind == "linear":
                return p.linear(x, y)
            return x @ y if kind == "matmul" else x + y if kind == "add" else x * y
    return x.relu() if kind == "relu" else -x


_KINDS = (
    *("relu", "neg", "add", "add", "mul", "sum", "max", "mean", "transpose", "reshape"),
    *("flatten", "select", "slice", "matmul", "matmul", "linear", "linear"),
)


def _fits(kind: str, x: Buffer, y: Buffer) -> bool:
    if kind in ("add", "mul"):
        return x.shape == y.shape or (x.rank == 2 and y.shape == x.shape[1:])
    if x.rank != 2 or y.rank != 2:
        return False
    return x.shape[1] == y.shape[0 if kind == "matmul" else 1]


@st.composite
def _programs(draw: st.DrawFn) -> Made:
    mesh = draw(st.sampled_from(_MESHES))
    shapes = [(8, 16), (16, 16), (16,), (16, 8)]
    inputs = [(shape, draw(_spreads(shape, mesh))) for shape in shapes]
    with build("main") as p, build("main") as alone:
        p.mesh(mesh)
        values = [p.input(f"x{i}", shape, "f64", spread=s) for i, (shape, s) in enumerate(inputs)]
        others = [alone.input(f"x{i}", shape, "f64") for i, (shape, _) in enumerate(inputs)]
        for _ in range(draw(st.integers(1, 6))):
            seed = draw(st.integers(0, 2**31))
            values.append(_step(Random(seed), p, values))
            others.append(_step(Random(seed), alone, others))
        outputs: list[Spreads] = []
        for i in range(len(inputs), len(values)):
            shape = tuple(int(size) for size in values[i].shape)  # type: ignore[arg-type]
            outputs.append(draw(_spreads(shape, mesh)))
            # Views may not be given out as they are.
            p.output(f"y{i}", values[i] + 0.0, spread=outputs[-1])
            alone.output(f"y{i}", others[i] + 0.0)
    return Made(p, alone, mesh, inputs, outputs)


def _divided(program: Program) -> str:
    """What each device does, as text."""
    session = Session()
    module = parse(Source("<stdin>", program.text.encode()), session)
    run_steps(module.operation, parse_pipeline("hir-divide-over-mesh"))
    return str(module)


@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(_programs())
def test_divided_programs_mean_what_the_whole_does(made: Made) -> None:
    """The interpreter's team runs both what is said of the whole and what each device does."""
    generator = torch.Generator().manual_seed(2)
    wholes = [
        torch.randint(-3, 4, shape, generator=generator).to(torch.float64)
        for shape, _ in made.inputs
    ]
    expected = interpret(made.alone, wholes)
    places = Mesh(made.mesh, tuple(range(prod(made.mesh)))).places
    values = [
        [
            part(whole, spreads, made.mesh, place)
            for whole, (_, spreads) in zip(wholes, made.inputs, strict=True)
        ]
        for place in places
    ]
    for program in (made.over_mesh, _divided(made.over_mesh)):
        results = interpret_team(program, values)
        for place, given_ in zip(places, results, strict=True):
            for result, whole, spreads in zip(given_, expected, made.outputs, strict=True):
                wanted = part(whole, spreads, made.mesh, place)
                torch.testing.assert_close(result, wanted, rtol=1e-9, atol=1e-9)


def test_a_mesh_is_run_by_its_devices() -> None:
    with build("main") as p:
        p.mesh((2,))
        p.output("y", p.input("x", (4,), "f32", spread=["axis:0"]) + 1.0)
    with pytest.raises(InputError, match="over a mesh of 2 devices, and 1 runs it"):
        interpret(p, [torch.ones(2)])


def test_parts_of_an_open_size_are_of_one_size() -> None:
    with build("main") as p:
        p.mesh((2,))
        p.output("y", p.input("x", ("n",), "f32", spread=["axis:0"]) + 1.0)
    with pytest.raises(InputError) as error:
        interpret_team(p, [[torch.ones(2)], [torch.ones(1)]])
    assert "input 'x': (2,) on device 0, whose part is (1,)" in str(error.value)
    assert error.value.hint is not None
    assert "parts of an open size are as large on all devices" in error.value.hint

"""Whatever is built without an error is a valid program, and its text is the same one again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import hirc
from hirc.compiler.errors import InputError
from hirc.dialects import hir
from hirc.dialects.hir.builder import Buffer, Program, Size
from hirc.dialects.hir.builder.sizes import Atom, replace_atoms
from hirc.dialects.hir.kinds import REDUCE, UNARY
from hirc.dialects.mlir import context, ir

_UNARY = [kind for kind in UNARY if kind not in ("not", "cast", "isnan")]
_OPERATORS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x / y,
    lambda x, y: x**y,
    lambda x, y: x < y,
    lambda x, y: x == y,
]


class Writer:
    """Writes random operations on the buffers that are visible."""

    def __init__(self, p: Program, data: st.DataObject) -> None:
        self.p = p
        self.data = data
        n, m = p.size("n"), p.size("m")
        self.pool = [
            p.input("x", (n, 8), "f32"),
            p.input("y", (8,), "f32", strides="any"),
            p.input("z", (m, n, 8), "f16", order=(2, 0, 1)),
            p.input("k", (4, 8), "i32"),
        ]
        self.sizes: list[Any] = [n, m, n * m, 3]

    def pick(self, choices: Any) -> Any:
        return self.data.draw(st.sampled_from(choices))

    def step(self, depth: int) -> None:
        actions = [self.unary, self.operator, self.reduce, self.view, self.reshape, self.copy]
        actions += [self.allocate, self.size, self.write, self.product]
        if depth:
            actions += [self.loop, self.branch, self.stream]
        action = self.pick(actions)
        before = list(self.pool), list(self.sizes)
        try:
            action(depth) if action in (self.loop, self.branch, self.stream) else action()
        except hirc.BuildError:
            self.pool, self.sizes = before

    def unary(self) -> None:
        self.pool.append(self.p.compute_kind(self.pick(_UNARY), self.pick(self.pool)))

    def operator(self) -> None:
        other = self.pick([*self.pool, *self.sizes, 2.5])
        self.pool.append(self.pick(_OPERATORS)(self.pick(self.pool), other))

    def reduce(self) -> None:
        x = self.pick(self.pool)
        kind, axis = self.pick(list(REDUCE)), self.pick(range(-x.rank, x.rank) or [0])
        self.pool.append(self.p.reduce(kind, x, axis, keep_dims=self.pick([False, True])))

    def view(self) -> None:
        x = self.pick(self.pool)
        index = self.pick([0, -1, slice(1, None), slice(None, None, 2), ..., *self.sizes])
        self.pool.append(self.pick([lambda: x[index], lambda: x[..., index], lambda: x.T])())

    def reshape(self) -> None:
        x = self.pick(self.pool)
        self.pool.append(self.pick([x.reshape(-1), x.expand(2, *x.shape)]))

    def copy(self) -> None:
        x = self.pick(self.pool)
        self.pool.append(self.p.set(x, self.pick(["f32", "f16", "i32", "ui8", "f8E5M2"])))

    def allocate(self) -> None:
        shape = [self.pick(self.sizes) for _ in range(self.pick([0, 1, 2]))]
        order = self.data.draw(st.permutations(range(len(shape))))
        self.pool.append(self.p.allocate(shape, "f32", order=order))

    def size(self) -> None:
        x, y = self.pick(self.sizes), self.pick(self.sizes)
        size = self.pick([x + y, x * y, self.p.ceildiv(x, 4), self.p.maximum(x, y)])
        assert isinstance(size, (int, Size))
        self.sizes.append(size)

    def write(self) -> None:
        x, y = self.pick(self.pool), self.pick(self.pool)
        x[...] = y

    def product(self) -> None:
        x, y = self.pick(self.pool), self.pick(self.pool)
        self.pool.append(x @ y.T)

    def inside(self, depth: int, *sizes: Size) -> None:
        visible = list(self.pool), list(self.sizes)
        self.sizes.extend(sizes)
        for _ in range(self.pick([1, 2, 3])):
            self.step(depth - 1)
        self.pool, self.sizes = visible

    def loop(self, depth: int) -> None:
        with self.p.loop(self.pick(self.sizes), streams=self.pick([None, 4])) as i:
            self.inside(depth, i)

    def stream(self, depth: int) -> None:
        with self.p.stream("side"):
            self.inside(depth)

    def branch(self, depth: int) -> None:
        with self.p.branch(self.pick(self.sizes) > 2) as branch:
            for side in (branch.then, branch.otherwise):
                with side:
                    self.inside(depth)
                    branch.output(self.pool[0].exp(), self.pool[-1])
        self.pool.extend(branch.results)


@settings(max_examples=60)
@given(st.data(), st.integers(1, 12))
def test_random_programs(data: st.DataObject, steps: int) -> None:
    with hirc.program("main") as p:
        writer = Writer(p, data)
        for _ in range(steps):
            writer.step(2)
        for buffer in writer.pool[-2:]:
            p.output(None, buffer)
    check_sizes(writer.pool)
    fresh = context()
    hir.load(fresh)
    again = ir.Module.parse(p.text, fresh)
    assert again.operation.get_asm(enable_debug_info=True) == p.text


def check_sizes(pool: list[Buffer]) -> None:
    for buffer in pool:
        for size, declared in zip(buffer.shape, buffer.type.shape, strict=True):
            assert declared < 0 or size == declared


@settings(max_examples=40)
@given(st.data(), st.integers(1, 6))
def test_sizes_are_those_of_the_run(data: st.DataObject, steps: int) -> None:
    with hirc.program("main") as p:
        writer = Writer(p, data)
        for _ in range(steps):
            writer.step(0)
        for buffer in writer.pool[4:]:
            p.output(None, buffer)
    given_sizes = {"n": 6, "m": 5}
    inputs = [
        torch.rand(6, 8),
        torch.rand(8),
        torch.rand(8, 5, 6, dtype=torch.float16).permute(1, 2, 0),
        torch.ones(4, 8, dtype=torch.int32),
    ]
    try:
        outputs = hirc.interpret(p, inputs)
    except InputError:
        return  # Sizes that do not fit, for one, are known in the run alone.
    atoms = {single_atom(p.size(name)): value for name, value in given_sizes.items()}
    for buffer, tensor in zip(writer.pool[4:], outputs, strict=True):
        known = [replace_atoms(p, size, atoms) for size in buffer.shape]
        assert len(known) == tensor.ndim
        for size, actual in zip(known, tensor.shape, strict=True):
            assert size is None or size == actual


def single_atom(size: Size) -> Atom:
    ((monomial, _),) = size.terms
    return monomial[0]

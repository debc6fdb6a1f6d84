"""Kernels made at random do what a model of all threads in lockstep says.

The model runs the whole block one statement at a time, so that between two barriers every thread
has done all that comes before. Barriers and shuffles stand only where all threads come.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from support.cpu_kernels import Launch, build

Values = NDArray[np.int32]
Mask = NDArray[np.bool_]
_VARIABLES = ("a", "b", "c", "d")
_COUNT = 4


class Block:
    """The state of all threads of a block."""

    def __init__(self, threads: int) -> None:
        self.thread = np.arange(threads, dtype=np.int32)
        self.variables = [self.thread * np.int32(n + 1) + np.int32(n) for n in range(_COUNT)]
        self.array = np.zeros((threads, 4), np.int32)
        self.shared = np.zeros(threads, np.int32)


@dataclass(frozen=True)
class Arithmetic:
    target: int
    left: int
    operation: str
    right: int

    def c(self) -> str:
        left, right = _VARIABLES[self.left], _VARIABLES[self.right]
        return f"{_VARIABLES[self.target]} = (int)((u32){left} {self.operation} (u32){right});"

    def run(self, block: Block, active: Mask) -> None:
        left, right = (block.variables[n].view(np.uint32) for n in (self.left, self.right))
        made = {
            "+": lambda: left + right,
            "-": lambda: left - right,
            "*": lambda: left * right,
            "^": lambda: left ^ right,
        }[self.operation]()
        old = block.variables[self.target]
        block.variables[self.target] = np.where(active, made.view(np.int32), old)


@dataclass(frozen=True)
class Array:
    """Writes to an element of the thread's own array, and reads another."""

    target: int
    index: int

    def c(self) -> str:
        index, target = _VARIABLES[self.index], _VARIABLES[self.target]
        return f"own[{index} & 3] += t; {target} ^= own[({index} + 1) & 3];"

    def run(self, block: Block, active: Mask) -> None:
        index = block.variables[self.index]
        rows = block.thread[active]
        block.array[rows, index[active] & 3] += rows
        read = block.array[block.thread, (index.view(np.uint32) + 1) & 3]
        old = block.variables[self.target]
        block.variables[self.target] = np.where(active, old ^ read, old)


@dataclass(frozen=True)
class Branch:
    """Threads part by a bit of their number xor a variable."""

    bit: int
    variable: int
    then: tuple[Divergent, ...]
    otherwise: tuple[Divergent, ...]

    def c(self) -> str:
        condition = f"((t ^ {_VARIABLES[self.variable]}) >> {self.bit}) & 1"
        return f"if ({condition}) {{ {_c(self.then)} }} else {{ {_c(self.otherwise)} }}"

    def run(self, block: Block, active: Mask) -> None:
        taken = ((block.thread ^ block.variables[self.variable]) >> self.bit) & 1 != 0
        for statement in self.then:
            statement.run(block, active & taken)
        for statement in self.otherwise:
            statement.run(block, active & ~taken)


@dataclass(frozen=True)
class DivergentLoop:
    """As many turns as the thread's number says."""

    modulus: int
    body: tuple[Divergent, ...]

    def c(self) -> str:
        return f"for (int i = 0; i < t % {self.modulus}; ++i) {{ {_c(self.body)} }}"

    def run(self, block: Block, active: Mask) -> None:
        for turn in range(self.modulus):
            for statement in self.body:
                statement.run(block, active & (turn < block.thread % self.modulus))


@dataclass(frozen=True)
class Exchange:
    """Each thread reads what another has put into shared memory."""

    target: int
    source: int
    distance: int

    def c(self) -> str:
        return (
            f"shared[t] = {_VARIABLES[self.source]}; BARRIER(); "
            f"{_VARIABLES[self.target]} += shared[(t + {self.distance}) % NX]; BARRIER();"
        )

    def run(self, block: Block, active: Mask) -> None:
        given = np.roll(block.variables[self.source], -self.distance)
        block.variables[self.target] = block.variables[self.target] + given


@dataclass(frozen=True)
class Shuffle:
    target: int
    source: int
    lanes: int

    def c(self) -> str:
        target, source = _VARIABLES[self.target], _VARIABLES[self.source]
        given = f"__nvvm_shfl_sync_bfly_i32(-1, {source}, {self.lanes}, 31)"
        # A lane that is not there gives nothing that is defined.
        return f"{{ int g = {given}; {target} -= (t ^ {self.lanes}) < NX ? g : {source}; }}"

    def run(self, block: Block, active: Mask) -> None:
        other = block.thread ^ self.lanes
        there = other < len(block.thread)
        source = block.variables[self.source]
        given = np.where(there, source[np.where(there, other, 0)], source)
        block.variables[self.target] = block.variables[self.target] - given


@dataclass(frozen=True)
class UniformLoop:
    """A loop that all threads turn as often."""

    turns: int
    body: tuple[Uniform, ...]

    def c(self) -> str:
        return f"for (int i = 0; i < n + {self.turns}; ++i) {{ {_c(self.body)} }}"

    def run(self, block: Block, active: Mask) -> None:
        for _ in range(self.turns):
            for statement in self.body:
                statement.run(block, active)


Divergent = Arithmetic | Array | Branch | DivergentLoop
Uniform = Arithmetic | Array | Branch | DivergentLoop | Exchange | Shuffle | UniformLoop


def _c(body: tuple[Uniform, ...]) -> str:
    return "\n".join(statement.c() for statement in body)


_variable = st.integers(0, _COUNT - 1)
_plain = st.one_of(
    st.builds(Arithmetic, _variable, _variable, st.sampled_from("+-*^"), _variable),
    st.builds(Array, _variable, _variable),
)


def _divergent(inner: st.SearchStrategy[Divergent]) -> st.SearchStrategy[Divergent]:
    body = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Branch, st.integers(0, 5), _variable, body, body),
        st.builds(DivergentLoop, st.integers(1, 5), body),
    )


_any_divergent: st.SearchStrategy[Divergent] = st.recursive(_plain, _divergent, max_leaves=6)
_flat: st.SearchStrategy[Uniform] = st.one_of(
    _any_divergent,
    st.builds(Exchange, _variable, _variable, st.integers(1, 40)),
    st.builds(Shuffle, _variable, _variable, st.integers(1, 31)),
)
_loops = st.recursive(
    _flat,
    lambda inner: st.builds(
        UniformLoop, st.integers(0, 3), st.lists(inner, min_size=1, max_size=3).map(tuple)
    ),
    max_leaves=5,
)
_kernel = st.lists(_loops, min_size=1, max_size=7).map(tuple)


def _source(number: int, body: tuple[Uniform, ...]) -> str:
    declared = " ".join(f"int {name} = t * {n + 1} + {n};" for n, name in enumerate(_VARIABLES))
    stored = " ".join(f"out[t * 4 + {n}] = {name};" for n, name in enumerate(_VARIABLES))
    return (
        f"KERNEL void k{number}(int *out, int n) {{ int t = TX; int own[4] = {{0, 0, 0, 0}};\n"
        f"{declared}\n{_c(body)}\n{stored} }}\n"
    )


@settings(
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    kernels=st.lists(_kernel, min_size=3, max_size=3),
    threads=st.sampled_from([1, 31, 32, 45, 64, 100]),
    opt_level=st.sampled_from([0, 1, 2, 3]),
)
def test_as_in_lockstep(
    kernels: list[tuple[Uniform, ...]], threads: int, opt_level: int, tmp_path: Path
) -> None:
    source = "SHARED int shared[1024];\n" + "".join(
        _source(number, body) for number, body in enumerate(kernels)
    )
    out = np.zeros((threads, _COUNT), np.int32)
    program = build(source, tmp_path, opt_level=opt_level)
    launches = [
        Launch(f"k{number}", [out, np.int32(0)], block=(threads, 1, 1))
        for number in range(len(kernels))
    ]
    for body, (result,) in zip(kernels, program.run(*launches), strict=True):
        block = Block(threads)
        for statement in body:
            statement.run(block, np.ones(threads, np.bool_))
        np.testing.assert_array_equal(result, np.stack(block.variables, 1))

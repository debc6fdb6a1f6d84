"""Every public call of the builder, with values of every kind: valid IR, or a BuildError here.

The calls are found by introspection, so that new ones are covered.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from operator import add, lt, mul
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

import hirc
from hirc.dialects import hir
from hirc.dialects.hir import builder
from hirc.dialects.hir.builder import Module, Program
from hirc.dialects.hir.builder.emitter import Emitter
from hirc.dialects.hir.builder.values import Values
from hirc.dialects.hir.kinds import BINARY, REDUCE, TERNARY, UNARY
from hirc.dialects.mlir import context, ir

_GPU = "gpu.module @kernels { gpu.func @k(%x: memref<?x8xf32>, %n: i32) kernel { gpu.return } }"
_MORE_GPU = "gpu.module @more { gpu.func @f() kernel { gpu.return } }"
# Values of no program, and of every kind.
_VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 3, 2**40, 2**63, -(2**63) - 1, 2**70, 10**400, 2j),
    *(1.5, -0.0, float("nan"), float("inf"), 1e300, "", "x", "f32", "\udc80", "@", "a\0b", b"x"),
    *(object(), int, print, (), (4, 8), [1, 0], [[1], 2], (0,), (-1,), ("n",), range(2), {}),
    *({"a": 1}, {1, 2}, slice(None), slice(1, 2), slice(None, None, -1), ..., _GPU, 10**5),
    *(np.int64(1), np.float32(2), np.bool_(True), np.array(1), np.ones((2, 2)), np.int8),
    *(torch.tensor(1), torch.ones(2, 2), torch.float32, torch.Size([4, 8]), (2**62, 2**62)),
    *([hirc.steps.Split(0, 0)], hirc.steps.Split(0, 2), [hirc.steps.Merge(2**70)]),
    *([hirc.steps.Shard(0, 5)], [hirc.steps.Reorder(3)], [None], (1.5,), (2**63,)),  # pyright: ignore[reportArgumentType]
]


class Setting:
    """A program that is open, what calls are made on, and values for them."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.m = hirc.module()
        with self.m.program("layer") as layer:
            layer.output("y", layer.input("x", ("n", 8), "f32").relu())
        kernel = self.m.kernel("k", self.m.gpu_module(_GPU)["k"], block=(32,))
        self.other = hirc.program("other")
        self.other.__enter__()
        foreign = self.other.input("x", ("n", 8), "f32")
        self.p = p = self.m.program("main")
        p.__enter__()
        n, x = p.size("n"), p.input("x", ("n", 8), "f32")
        integers, mask = p.input("i", ("n", 8), "i32"), p.input("b", ("n", 8), "i1")
        with p.loop(4) as index:
            gone = x[index]
        scalar, whole = p.scalar("s", "f32"), p.scalar("k", "i64")
        side, event, team = p.stream("side"), p.record(), p.communicator([0, 1])
        request = p.communicate("allreduce", x, x, team, reduction="sum")
        self.targets = [self.m, p, x, integers, mask, n, scalar, whole, side, event, request]
        self.buffers = [x, x, p.allocate((n, 8), "f32"), p.allocate((4, 8), "f32"), integers, mask]
        right: dict[str, list[Any]] = {
            "kind": [*UNARY, *BINARY, *TERNARY, *REDUCE, "allreduce", "broadcast"],
            "operands": [*self.buffers, 2, 1.5, scalar],
            "index": [0, n - 1, slice(1, 3), ..., (0, 1), whole],
            "function": ["log", kernel],
            "arguments": [x, whole, 3],
            "inputs": [x],
            "values": [x, n],
            "value": [2, x, n],
            "text": [_MORE_GPU],
            "condition": [True, n > 4],
            "communicator": [team],
            "program": [layer],
            "kernel": [kernel],
            "out": [None, *self.buffers, {0: x}],
            "memory": ["device", "pinned"],
            "before": ["whole", "axis:0"],
            "after": ["whole", "axis:1"],
            "which": ["side", 3],
        }
        for names, values in (
            ("x y source target buffer storage weight bias mask", self.buffers),
            ("name", ["layer", "new", "x", None]),
            ("shape sizes", [(n, 8), (4, 8), (-1,), n * 8, 8]),
            ("axis axes stream_axis root output pool streams alignment", [None, 0, -1, 1, 4]),
            ("start stop step grid block shared_bytes x y", [1, 4, n, whole, (2, 2)]),
            ("team to_team to order cluster writes strides", [None, (0, 1), [1, 0], "any", "f16"]),
            ("element type result", [None, "f32", "i32", "index"]),
            ("stream waiter signaller awaited event", [side, event, request]),
            ("keep_dims zero_init", [True, False]),
        ):
            for name in names.split():
                right.setdefault(name, []).extend(values)
        self.right = right
        self.values = [*_VALUES, gone, index, foreign, self.other.size("n"), self.other, p, self.m]
        self.values += [layer, (n, 8), {0: x}, builder, *self.targets, *self.buffers]

    def value(self, parameter: str) -> Any:
        """Mostly a value that the parameter takes, if beside others that are right too."""
        good = self.right.get(parameter)
        return self.random.choice(good if good and self.random.random() < 0.85 else self.values)

    def arguments(self, method: Any) -> tuple[list[Any], dict[str, Any]]:
        """Arguments for a method, now and then too many, or of a name that is not there."""
        arguments: list[Any] = []
        keywords: dict[str, Any] = {}
        for each in inspect.signature(method).parameters.values():
            count = 1 if each.default is each.empty or self.random.random() < 0.3 else 0
            if each.kind is each.VAR_POSITIONAL:
                arguments += [
                    self.value(each.name) for _ in range(self.random.choice([0, 1, 1, 2]))
                ]
            elif (count and each.kind is each.KEYWORD_ONLY) or keywords:
                keywords[each.name] = self.value(each.name)
            elif count:
                arguments.append(self.value(each.name))
        if self.random.random() < 0.05:
            keywords[self.random.choice(["dim", "keepdim", "dtype", "self", "nothing"])] = 1
        if self.random.random() < 0.05:
            arguments = arguments[:-1] or [None]
        return arguments, keywords

    def leave(self) -> None:
        """Ends the programs. What was written without an error is valid, and reads as it is."""
        self.other.__exit__(None, None, None)
        self.p.__exit__(None, None, None)
        fresh = context()
        hir.load(fresh)
        ir.Module.parse(str(self.m), fresh)


def public_calls(target: object) -> Iterator[str]:
    """The names of the methods that are offered: not the plumbing that programs write with."""
    plumbing = {*dir(Emitter), *dir(Values)}
    for name in dir(type(target)):
        if name.startswith("_") or (isinstance(target, Program) and name in plumbing):
            continue
        found = inspect.getattr_static(target, name)
        if not isinstance(found, property) and callable(getattr(target, name)):
            yield name


def attempt(method: Any, arguments: list[Any], keywords: dict[str, Any]) -> bool:
    """Whether a call succeeds; a BuildError must be at its line, and nothing else is raised."""
    try:
        result = method(*arguments, **keywords)
        if hasattr(result, "__enter__") and not isinstance(result, Program):
            with result:
                pass
    except hirc.BuildError as error:
        lines, start = inspect.getsourcelines(attempt)
        place = error.place
        if place is None or Path(place.file) != Path(__file__):
            raise
        if not start <= place.line < start + len(lines):
            raise
        return False
    return True


@pytest.mark.parametrize("seed", range(2))
def test_every_call_with_every_kind_of_value(seed: int) -> None:
    random = Random(seed)
    taken: set[str] = set()
    refused: set[str] = set()
    for _ in range(6):
        setting = Setting(random)
        for target in setting.targets:
            names = list(public_calls(target))
            for name in random.sample(names, min(len(names), 30)):
                method = getattr(target, name)
                for _ in range(3):
                    arguments, keywords = setting.arguments(method)
                    (taken if attempt(method, arguments, keywords) else refused).add(name)
        setting.leave()
    assert len(taken) > 50, "most values are right"
    assert len(refused) > 80


def test_keywords_of_other_libraries() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (4, 8), "f32")
        reduce: Any = x.sum
        for keyword, hint in (("dim", "axes="), ("keepdim", "keep_dims="), ("dtype", "element=")):
            with pytest.raises(hirc.BuildError, match=f"sum has no .*{keyword}.*\n.*write {hint}"):
                reduce(**{keyword: 1})
        with pytest.raises(hirc.BuildError, match="hint: write 'f32'"):
            x.cast(float)  # pyright: ignore[reportArgumentType]


def test_an_axis_to_spread_is_one_of_the_result() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (4, 8), "f32")
        for axis in (2, 5, -3, 2**70):
            with pytest.raises(hirc.BuildError, match=r"is out of range for hir\.set"):
                p.set(x, stream_axis=axis)
        p.output("y", p.set(x, stream_axis=-1))
        with pytest.raises(hirc.BuildError, match="a scalar, which has no stream_axis"):
            p.add(p.scalar("s", "f32"), 1.0, stream_axis=0)
    assert "stream_axis = 1" in str(p)


def test_what_has_no_axis_is_not_spread() -> None:
    setting = Setting(Random(0))
    p, x = setting.p, setting.buffers[0]
    layer, kernel, team = (setting.right[name][0] for name in ("program", "kernel", "communicator"))
    with p.over_streams(0):
        for call in (
            lambda: p.call(layer, x),
            lambda: p.launch(kernel, x, 1, grid=1),
            lambda: p.host_call("log", x),
            lambda: p.communicate("allreduce", x, x, team, reduction="sum"),
            lambda: p.reshard(x, "axis:0", "whole", [0, 1]),
        ):
            with pytest.raises(
                hirc.BuildError, match=r"has no axis that over_streams\(0\) spreads"
            ):
                call()


def test_whole_numbers_of_any_kind_are_sizes() -> None:
    numbers: list[Any] = [np.int64(4), np.int32(1), np.int8(-1), np.int64(2), np.float32(2)]
    four, one, last, two, factor = numbers
    with hirc.program("main") as p:
        n, k = p.scalar("n", "i64"), p.scalar("k", "i32")
        x = p.input("x", (four, 8), "f32")
        with p.loop(n):
            x[k] = x[one] * factor
        stream = p.stream(k)
        stream.wait(p.current_stream())
        p.output("y", x.reshape((8, 4)).permute((1, 0)).sum(last))
        assert p.size("m") * two == two * p.size("m")
        assert p.size("m") ** 2 == p.size("m") * p.size("m")
        assert four // p.size("m") == 4 // p.size("m")
        assert four % p.size("m") == 4 % p.size("m")
    assert str(p).count("arith.index_cast") == 3


def test_shapes_and_axes_of_any_iterable() -> None:
    sizes: Any = (size for size in (4, 8))
    order: Any = reversed(range(2))
    axes: Any = np.array([0, 1])
    wrong: list[Any] = [np.array(4), {4, 8}, {4: 8}, "48", iter("48")]
    with hirc.program("main") as p:
        x = p.input("x", sizes, "f32")
        y = x.reshape(torch.Size([8, 4])).permute(order).sum(axes)
        assert p.allocate(axes, "f32", zero_init=True).shape == (0, 1)
        wrong.append(x)
        for shape in wrong:
            with pytest.raises(hirc.BuildError):
                p.allocate(shape, "f32")
        p.output("y", y)


def test_sizes_go_to_kernels_as_their_parameters_types() -> None:
    m = hirc.module()
    gpu = (
        "gpu.func @k(%a: i32, %b: i64, %c: index, %d: f32, %e: memref<?xf32>) kernel { gpu.return }"
    )
    kernel = m.kernel("k", m.gpu_module(f"gpu.module @sizes {{ {gpu} }}")["k"], block=(32,))
    with m.program("main") as p:
        n, x = p.size("n"), p.input("x", ("n",), "f32")
        p.launch(kernel, n, n + 1, n, n, x, grid=1)
        with pytest.raises(hirc.BuildError, match="argument 4 of"):
            p.launch(kernel, n, n, n, n, n, grid=1)
    assert "hir.launch" in str(p)


def test_an_element_type_beside_another_ones_buffer() -> None:
    with hirc.program("main") as p:
        x, out = p.input("x", (4,), "f32"), p.allocate((4,), "f32")
        with pytest.raises(hirc.BuildError, match="element is f16, and `out` has elements of f32"):
            p.set(x, "f16", out=out)
        p.set(x, "f32", out=out)
        p.output("y", out)


def test_a_number_of_an_output_that_is_not_there() -> None:
    def build() -> None:
        with hirc.program("main") as p:
            p.output("y", p.allocate((4,), "f32", zero_init=True, output=1))

    with pytest.raises(hirc.BuildError, match="'output' is 1, and @main has 1 outputs") as caught:
        build()
    assert caught.value.place is not None
    assert caught.value.place.line == inspect.getsourcelines(build)[1] + 2


def test_operators_with_values_of_other_libraries() -> None:
    with hirc.program("main") as p:
        x, s, n = p.input("x", ("n", 8), "f32"), p.scalar("s", "f32"), p.size("n")
        values: list[Any] = [x, s, n]
        for value in values:
            for other in ("1", None, np.ones(3), torch.ones(3), [1]):
                operators: list[Any] = [add, mul, lt]
                for operator in operators:
                    with pytest.raises(hirc.BuildError):
                        operator(value, other)
                    with pytest.raises(hirc.BuildError):
                        operator(other, value)
        with pytest.raises(hirc.BuildError, match="torch's exp takes tensors"):
            torch.exp(x)  # pyright: ignore[reportArgumentType, reportCallIssue]


class Mistake(Exception):
    """What goes wrong within a `with`."""


@pytest.mark.parametrize("within", ["program", "loop", "branch", "side", "stream", "group", "axis"])
def test_an_exception_within_a_with_is_the_one_that_comes_out(within: str) -> None:
    m = hirc.module()
    with pytest.raises(Mistake):
        make_mistake(m, within)
    with m.program("next") as following:
        following.output("y", following.input("x", (4,), "f32").relu())


def make_mistake(m: Module, within: str) -> None:
    with m.program("main") as p:
        x = p.input("x", ("n", 8), "f32")
        team = p.communicator([0, 1])
        y = x + 1
        if within == "program":
            p.output("y", y)
            raise Mistake
        if within == "branch":
            with p.branch(p.size("n") > 3) as branch, branch.then:
                branch.output(x * p.size("n").cast("f32"))
                raise Mistake
        if within == "side":
            with p.branch(p.size("n") > 3) as branch:
                with branch.then:
                    branch.output(x.relu())
                raise Mistake
        if within == "group":
            with p.coalesce() as group:
                p.communicate("allreduce", x, y, team, reduction="sum")
                del group
                raise Mistake
        manager: Any = {
            "loop": lambda: p.loop(p.size("n"), streams=2),
            "stream": lambda: p.stream("side"),
            "axis": lambda: p.over_streams(0),
        }[within]()
        with manager:
            x[0].relu()
            raise Mistake

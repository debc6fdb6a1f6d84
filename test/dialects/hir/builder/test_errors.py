"""Mistakes are errors at the user's line, which say what was expected and what came."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hirc
from hirc.dialects.hir.builder import Buffer, Program
from hirc.dialects.mlir import ir
from support.built_program import operations

# Programs and buffers, which a type checker would keep from these.
Case = Callable[[Any, Any], Any]

_CASES: list[tuple[Case, str]] = [
    (lambda p, x: p.input("y", (8,), "float32"), "expected an element type .* not 'float32'"),
    (lambda p, x: p.scalar("y", "u8"), "expected a scalar's type"),
    (lambda p, x: p.input("x", (8,), "f32"), "has an input 'x' already"),
    (lambda p, x: p.input("y", 8, "f32"), "a shape is a tuple of sizes, not 8"),
    (lambda p, x: p.input("y", (p.size("n") * 2,), "f32"), r"n \* 2 is computed"),
    (lambda p, x: p.input("y", (-1,), "f32"), "a size is a number from 0 on"),
    (lambda p, x: p.input("y", (8,), "f32", order=(1,)), "has each of the 1 dims once"),
    (lambda p, x: p.allocate((p.size("m"),), "f32"), "no input has it so far"),
    (lambda p, x: p.allocate((8,), "f32", memory="host"), "memory is one of device, pinned"),
    (lambda p, x: p.allocate((8,), "f32", domain=["split"]), "a step is Split"),
    (
        lambda p, x: p.allocate(
            (8, 8), "f32", domain=[hirc.steps.Split(1, 4), hirc.steps.Reorder((1, 0, 2))]
        ),
        "no strided view of the logical sizes .8, 8.: dim 1",
    ),
    (lambda p, x: x + x.cast("f16"), "add takes operands of one element type, not f32 and f16"),
    (lambda p, x: x + p.allocate((3, 7), "f32"), "add: sizes .* do not broadcast"),
    (lambda p, x: x + "1", "an operand is a buffer, a scalar or a number, not '1'"),
    (lambda p, x: x & 1, "and takes integers and i1, not f32"),
    (lambda p, x: x.cast("i32") + 2.5, "2.5 is no i32"),
    (lambda p, x: x.cast("i8") + 128, "128 is no i8"),
    (lambda p, x: x.cast("i8") + float("inf"), "inf is no i8"),
    (lambda p, x: p.where(x, x, x), "where takes a buffer of i1 first, not of f32"),
    (lambda p, x: p.add(x), "add takes 2 operands, not 1"),
    (lambda p, x: x.add(x, out=p.allocate((3,), "f32")), "sizes|size"),
    (lambda p, x: x.sum(2), "axes are different numbers from 0 to 1"),
    (lambda p, x: x.sum(()), "a reduction over no axes"),
    (lambda p, x: x @ p.allocate((3, 5), "f32"), "do not fit"),
    (lambda p, x: x @ x.cast("f16").T, "matmul takes operands of one element type"),
    (lambda p, x: p.set(1.0), "copied into a buffer that is there"),
    (lambda p, x: p.cast(x), "cast takes the element type"),
    (lambda p, x: x[0, 0, 0], "3 indices for Buffer"),
    (lambda p, x: x[:, 8], "index 8 is out of range for axis 1"),
    (lambda p, x: x[:, 2:9], "bounds .* do not lie within"),
    (lambda p, x: x[::-1], "the step of a slice is a number from 1 on, not -1"),
    (lambda p, x: x[None], "not None"),
    (lambda p, x: x[p.scalar("k", "f32")], "an index is a number, a size"),
    (lambda p, x: x.reshape(p.size("n") * 8 + 1), r"n \* 8 elements are not n \* 8 \+ 1"),
    (lambda p, x: p.allocate((4, 8), "f32").T.reshape(32), "hir.set makes a packed copy"),
    (lambda p, x: p.allocate((3, 5), "f32").reshape(4, -1), "15 elements do not divide"),
    (lambda p, x: x.expand(4), "has more dims"),
    (lambda p, x: x.expand(2, -1, 16), "only a size of 1 repeats"),
    (lambda p, x: x.permute(0, 0), "has each of the 2 dims"),
    (lambda p, x: bool(p.size("n") > 3), "known only when the program runs"),
    (lambda p, x: p.size("n") / 2, r"write // \(rounded down\)"),
    (lambda p, x: p.size("n") // 0, "is divided by 0"),
    (lambda p, x: range(p.size("n")), r"p.loop\(0, size\)"),
    (lambda p, x: bool(x), "a buffer has no truth value"),
    (lambda p, x: list(x), "not iterated over"),
    (lambda p, x: p.branch(x).__enter__(), "a condition is an i1 scalar"),
    (lambda p, x: p.scalar("a", "f32") + p.scalar("b", "f64"), "one type, not f32 and f64"),
    (lambda p, x: p.scalar("a", "f32") * p.size("n"), "one type, not f32 and index"),
    (lambda p, x: p.gelu(p.scalar("a", "f32")), "not computed of scalars on the host"),
    (lambda p, x: p.gpu_module("gpu.module @k {"), "the text is no MLIR\nline 1"),
    (lambda p, x: p.gpu_module("func.func private @f()"), "one gpu.module, not func.func"),
    (lambda p, x: p.gpu_module("gpu.module @k {}")["f"], "no kernel 'f'; it has none"),
    (lambda p, x: p.reshard(x, "rows", "whole", [0, 1]), "a spread is whole"),
    (lambda p, x: p.communicator([0, 0]), "each once"),
    (lambda p, x: p.stream(1.5), "a stream has a name or a number"),
    (lambda p, x: p.owner.program("main"), "has a 'main' already"),
    (lambda p, x: p.output(x, "x"), "`name` is a string, not Buffer"),
    (lambda p, x: p.text, "but it is open"),
]


@pytest.mark.parametrize(("case", "message"), _CASES)
def test_mistakes(case: Case, message: str) -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n", 8), "f32")
        with pytest.raises(hirc.BuildError, match=message) as caught:
            case(p, x)
    place = caught.value.place
    assert place is not None
    lines, start = inspect.getsourcelines(case)
    assert Path(place.file) == Path(__file__)
    assert start <= place.line < start + len(lines)
    assert str(caught.value).startswith(f"{place.file}:{place.line}:")


def test_a_value_belongs_to_its_program() -> None:
    with hirc.program("a") as a, hirc.program("b") as b:
        x, y = a.input("x", ("n",), "f32"), b.input("y", ("n",), "f32")
        with pytest.raises(hirc.BuildError, match="is of program b, this is a"):
            x.add(y)
        with pytest.raises(hirc.BuildError, match="size n is of program b, this is a"):
            a.allocate(y.shape, "f32")


def test_a_value_of_a_loop_is_not_known_outside() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (4, 8), "f32")
        with p.loop(4) as i:
            row = x[i]
        with pytest.raises(hirc.BuildError, match=r"the operand belongs to the loop at .*:\d+:\d+"):
            row.neg()
        with pytest.raises(hirc.BuildError, match="the index i belongs to the loop"):
            x[i]


def unequal_branch(p: Program, x: Buffer) -> None:
    with p.branch(True) as branch, branch.then:
        branch.output(x)


def test_branches_agree() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (4, 8), "f32")
        with pytest.raises(hirc.BuildError, match="`then` gives 1, `otherwise` 0"):
            unequal_branch(p, x)
        with p.branch(True) as branch:
            with pytest.raises(hirc.BuildError, match="given by one of its sides"):
                branch.output(x)
            with branch.then:
                x.neg()
            with pytest.raises(hirc.BuildError, match="stands once"):
                branch.then.__enter__()
            with pytest.raises(hirc.BuildError, match="after its `with`"):
                _ = branch.results
        with pytest.raises(hirc.BuildError, match="the branch gives 0 values"):
            _ = branch.result
    assert [op.name for op in operations(p)].count("hir.if") == 1


def test_an_output_within_a_loop() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (8,), "f32")
        with p.loop(4), pytest.raises(hirc.BuildError, match="is given in the loop"):
            p.output("x", x)
        p.output("x", x)
        with pytest.raises(hirc.BuildError, match="has an output 'x' already"):
            p.output("x", x)


def test_a_verifiers_message_is_an_error_at_the_line() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (8,), "f32")
        team = p.communicator([0, 1, 2])
        with pytest.raises(hirc.BuildError, match="between two devices") as caught:
            p.communicate("send-recv", x, x, team, root=0)
    place = caught.value.place
    assert place is not None
    assert 'p.communicate("send-recv"' in Path(__file__).read_text().splitlines()[place.line - 1]
    assert "hir.communicate" not in str(p), "what is not valid is not kept"


def failing_loop(p: Program, x: Buffer) -> None:
    with p.loop(4) as i:
        x[i] = 0.0
        raise ZeroDivisionError


def test_what_fails_halfway_is_not_kept() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (8,), "f32")
        with pytest.raises(ZeroDivisionError):
            failing_loop(p, x)
        p.output("x", x)
    assert [op.name for op in operations(p)][2:] == ["arith.constant"] * 4 + ["hir.output"]


def test_hints() -> None:
    with hirc.program("main") as p, pytest.raises(hirc.BuildError, match="hint: write 'f32'"):
        p.input("x", (8,), "torch.float32")


def layer(p: Program, x: Buffer) -> Buffer:
    return x.exp() + 1.0


def test_every_operation_has_the_place_of_its_call() -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n", 8), "f32")
        with p.loop(4) as i:
            x[i] = 0.0
        p.output("y", layer(p, x))
    source = Path(__file__).read_text().splitlines()
    for op in operations(p)[1:]:
        location = op.location
        assert isinstance(location, ir.FileLineColLoc)
        assert location.filename == __file__
        line = source[location.start_line - 1]
        words = {
            "hir.for": "p.loop(4)",
            "hir.select": "x[i]",
            "hir.set": "x[i] = 0.0",
            "hir.unary": "x.exp()",
            "hir.binary": "x.exp() + 1.0",
            "hir.output": 'p.output("y"',
            "hir.program": 'hirc.program("main")',
        }
        assert words.get(op.name, "") in line
        if op.name == "hir.unary":
            assert location.start_col == line.index("x.exp()") + 1
    argument = operations(p)[1].regions[0].blocks[0].arguments[0]
    assert str(argument.location).startswith('loc("x"("')

"""Loops, branches, calls of programs and of the host, streams, teams of one."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager

import pytest
import torch

from hirc.compiler.errors import InputError, UnsupportedError
from hirc.compiler.interpreter import Counts, Interpreter, interpret
from hirc.compiler.interpreter.streams import Stream
from support.host_ir import program

V = "memref<8xf32>"
X = torch.arange(8.0)

CONSTANTS = """\
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
"""


def test_a_loop_that_adds_what_depends_on_its_index() -> None:
    body = f"""{CONSTANTS}\
  "hir.for"(%zero, %three, %one) ({{
  ^bb0(%i: index):
    %twice = arith.muli %i, %two : index
    %step = arith.addi %twice, %one : index
    "hir.binary"(%0, %step, %0) {{kind = "add"}} : ({V}, index, {V}) -> ()
  }}) : (index, index, index) -> ()"""
    x = torch.zeros(8)
    address = x.data_ptr()
    runner = Interpreter(program([V], body, [f"%0: {V}"]))
    (y,) = runner.run([x])
    assert y.tolist() == [9.0] * 8
    assert (y.data_ptr(), x.data_ptr()) == (address, address)
    assert runner.counts == Counts()


def test_a_loop_of_no_iterations_and_a_step_that_is_not_positive() -> None:
    body = f"""\
  %zero = arith.constant 0 : index
  "hir.for"(%zero, %1, %2) ({{
  ^bb0(%i: index):
    "hir.binary"(%0, %i, %0) {{kind = "add"}} : ({V}, index, {V}) -> ()
  }}) : (index, index, index) -> ()"""
    text = program([V, "index", "index"], body, [f"%0: {V}"])
    assert torch.equal(interpret(text, [X.clone(), 0, 1])[0], X)
    assert torch.equal(interpret(text, [X.clone(), 5, 2])[0], X + 6)
    with pytest.raises(InputError, match="the step of a loop is positive, not 0"):
        interpret(text, [X.clone(), 5, 0])


def test_a_loop_that_a_condition_ends() -> None:
    body = f"""{CONSTANTS}\
  "hir.for"(%zero, %1, %one) ({{
  ^bb0(%i: index):
    %is_last = arith.cmpi eq, %i, %two : index
    "hir.stop_loop"(%is_last) : (i1) -> ()
    "hir.binary"(%0, %i, %0) {{kind = "add"}} : ({V}, index, {V}) -> ()
  }}) : (index, index, index) -> ()"""
    text = program([V, "index"], body, [f"%0: {V}"])
    assert [interpret(text, [torch.zeros(8), n])[0][0] for n in (2, 3, 9)] == [1, 3, 3]


def branch(then: str, otherwise: str) -> str:
    return f"""\
  %results = "hir.if"(%1) ({{
    %a = {then}
    "hir.output"(%a) : ({V}) -> ()
  }}, {{
    %a = {otherwise}
    "hir.output"(%a) : ({V}) -> ()
  }}) : (i1) -> !hir.results_t
  %y = "hir.result"(%results) {{index = 0 : i64}} : (!hir.results_t) -> {V}"""


NEG = f'"hir.unary"(%0) {{kind = "neg"}} : ({V}) -> {V}'
EXP = f'"hir.unary"(%0) {{kind = "exp"}} : ({V}) -> {V}'


@pytest.mark.parametrize("condition", [True, False])
def test_a_branch_gives_what_it_made(condition: bool) -> None:
    text = program([V, "i1"], branch(NEG, EXP), [f"%y: {V}"])
    expected = -X if condition else X.exp()
    assert torch.equal(interpret(text, [X, condition])[0], expected)
    y = torch.zeros(8)
    assert interpret(text, [X, condition], [y])[0].data_ptr() == y.data_ptr()
    assert torch.equal(y, expected)


LAYER = program(
    ["memref<?xf32>", "f32"],
    '  %y = "hir.binary"(%0, %1) {kind = "mul"} : (memref<?xf32>, f32) -> memref<?xf32>',
    ["%y: memref<?xf32>"],
    name="layer",
    described='{name = "x", sizes = ["n"]}, {name = "scale"}',
)


def call(buffer: str, destination: str = "") -> str:
    given = (
        f'"hir.argument"({destination}) {{destination = 0 : i64}} : ({V}) -> ()'
        if destination
        else ""
    )
    return f"""\
"hir.call"() ({{
    "hir.argument"({buffer}) : ({V}) -> ()
    "hir.argument"(%1) : (f32) -> ()
    {given}
  }}) {{callee = @layer}} : () -> !hir.results_t"""


def result(results: str) -> str:
    return f'"hir.result"({results}) {{index = 0 : i64}} : (!hir.results_t) -> {V}'


def test_programs_call_programs() -> None:
    body = f"""\
  %r = {call("%0")}
  %a = {result("%r")}
  %s = {call("%a")}
  %y = {result("%s")}
  "hir.deallocate"(%a) : ({V}) -> ()"""
    runner = Interpreter(program([V, "f32"], body, [f"%y: {V}"]) + LAYER, check_leaks=True)
    assert torch.equal(runner.run([X, 3.0])[0], X * 9)
    assert runner.counts == Counts(32, 64, 2, 1)
    y = torch.zeros(8)
    assert runner.run([X, 2.0], [y])[0].data_ptr() == y.data_ptr()
    assert torch.equal(y, X * 4)


def test_a_call_writes_to_its_destination() -> None:
    body = f'  %y = "hir.allocate"() : () -> {V}\n  %r = {call("%0", "%y")}'
    runner = Interpreter(program([V, "f32"], body, [f"%y: {V}"]) + LAYER)
    assert torch.equal(runner.run([X, 3.0])[0], X * 3)
    assert runner.counts.allocations == 1


def test_what_a_call_made_leaks_in_the_caller() -> None:
    body = f"  %r = {call('%0')}\n  %a = {result('%r')}"
    runner = Interpreter(program([V, "f32"], body, [f"%0: {V}"]) + LAYER, check_leaks=True)
    with pytest.raises(InputError, match="leaks"):
        runner.run([X, 1.0])


def test_what_a_call_made_is_the_callers_to_free_on_every_path() -> None:
    body = f"""\
  %r = {call("%0")}
  %a = {result("%r")}
  %s = "hir.if"(%2) ({{
    "hir.deallocate"(%a) : ({V}) -> ()
  }}, {{
  ^bb0:
  }}) : (i1) -> !hir.results_t"""
    text = program([V, "f32", "i1"], body, [f"%0: {V}"]) + LAYER
    interpret(text, [X, 1.0, True])
    with pytest.raises(InputError, match="leaks"):
        interpret(text, [X, 1.0, False])


def test_a_callees_sizes_are_checked() -> None:
    callee = program(
        [V, "f32"], "", [], name="layer", described='{name = "x", sizes = [8]}, {name = "scale"}'
    )
    caller = program(
        ["memref<?xf32>", "f32"], f"  %r = {call('%0')}".replace(V, "memref<?xf32>"), []
    )
    with pytest.raises(InputError, match="input 'x' of @layer: dim 0: expected size 8, got 9"):
        interpret(caller + callee, [torch.zeros(9), 1.0])


HOST = f"""\
  %r = "hir.host_call"() ({{
    "hir.argument"(%0) : ({V}) -> ()
    "hir.argument"(%1) : (i32) -> ()
  }}) {{callee = @count, result_types = [i32]}} : () -> !hir.results_t
  %n = "hir.result"(%r) {{index = 0 : i64}} : (!hir.results_t) -> i32"""


def test_host_functions_get_tensors() -> None:
    def count(x: torch.Tensor, limit: int) -> int:
        x.add_(1)
        return int((x > limit).sum())

    text, x = program([V, "i32"], HOST, ["%n: i32"]), X.clone()
    assert interpret(text, [x, 5], host_functions={"count": count}) == [3]
    assert torch.equal(x, X + 1)


def ignore(x: torch.Tensor, limit: int) -> None:
    """A host function that does nothing."""


@pytest.mark.parametrize(
    ("functions", "message"),
    [({}, "calls the C function 'count'"), ({"count": ignore}, "should return a i32")],
)
def test_host_functions_that_are_missing_or_wrong(
    functions: dict[str, Callable[..., None]], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        interpret(program([V, "i32"], HOST, ["%n: i32"]), [X, 5], host_functions=functions)


def test_streams() -> None:
    body = f"""{CONSTANTS}\
  %here = "hir.current_stream"() : () -> !hir.stream_t
  %side = "hir.stream"() {{name = "side"}} : () -> !hir.stream_t
  %mine = "hir.stream"(%three) {{pool = 2 : i64}} : (index) -> !hir.stream_t
  "hir.wait_stream"(%side, %here) : (!hir.stream_t, !hir.stream_t) -> ()
  "hir.set_stream"(%side) : (!hir.stream_t) -> ()
  %y = "hir.unary"(%0) {{kind = "neg"}} : ({V}) -> {V}
  %done = "hir.record"() : () -> !hir.event_t
  "hir.set_stream"(%here) : (!hir.stream_t) -> ()
  "hir.wait_event"(%done) : (!hir.event_t) -> ()
  "hir.wait_event"(%done, %mine) : (!hir.event_t, !hir.stream_t) -> ()
  "hir.for"(%zero, %three, %one) ({{
  ^bb0(%i: index):
    "hir.binary"(%y, %i, %y) {{kind = "add"}} : ({V}, index, {V}) -> ()
  }}) {{streams = 2 : i64}} : (index, index, index) -> ()
  "hir.synchronize"(%mine) : (!hir.stream_t) -> ()
  "hir.synchronize"(%done) : (!hir.event_t) -> ()
  "hir.synchronize"() : () -> ()"""
    runner = Interpreter(program([V], body, [f"%y: {V}"]))
    assert torch.equal(runner.run([X])[0], 3 - X)
    assert set(runner.streams.known) == {"side", "#0", "#1"}


def test_the_stream_before_a_loop_is_current_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []

    @contextmanager
    def current(stream: Stream) -> Generator[None]:
        used.append(stream.name)
        yield

    body = f"""{CONSTANTS}\
  "hir.for"(%zero, %three, %one) ({{
  ^bb0(%i: index):
    %side = "hir.stream"(%i) {{pool = 2 : i64}} : (index) -> !hir.stream_t
    "hir.set_stream"(%side) : (!hir.stream_t) -> ()
    "hir.unary"(%0, %0) {{kind = "neg"}} : ({V}, {V}) -> ()
  }}) : (index, index, index) -> ()
  "hir.unary"(%0, %0) {{kind = "neg"}} : ({V}, {V}) -> ()"""
    monkeypatch.setattr(Stream, "current", current)
    interpret(program([V], body, [f"%0: {V}"]), [X.clone()])
    caller = "the caller's"
    iterations = [[caller, caller, f"#{n % 2}"] for n in range(3)]
    # Four constants and the loop, then in each iteration two operations before the stream is set.
    assert used == [*[caller] * 5, *(name for each in iterations for name in each), caller]


def test_iterations_come_between_what_is_before_and_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[tuple[str, str]] = []

    def wait_for(stream: Stream, other: Stream) -> None:
        waits.append((stream.name, other.name))

    body = f"""{CONSTANTS}\
  "hir.for"(%zero, %two, %one) ({{
  ^bb0(%i: index):
    "hir.unary"(%0, %0) {{kind = "neg"}} : ({V}, {V}) -> ()
  }}) {{streams = 4 : i64}} : (index, index, index) -> ()"""
    monkeypatch.setattr(Stream, "wait_for", wait_for)
    interpret(program([V], body, [f"%0: {V}"]), [X.clone()])
    caller = "the caller's"
    assert waits == [("#0", caller), ("#1", caller), (caller, "#0"), (caller, "#1")]


def team(devices: str) -> str:
    return f"""\
  %y = "hir.allocate"() : () -> {V}
  %team = "hir.communicator"() {{team = array<i64: {devices}>}} : () -> !hir.communicator_t
  %request = "hir.communicate"(%0, %y, %team) {{kind = "allreduce", reduction = "sum"}}
    : ({V}, {V}, !hir.communicator_t) -> !hir.request_t
  "hir.wait"(%request) : (!hir.request_t) -> ()"""


def test_a_team_of_one_copies() -> None:
    assert torch.equal(interpret(program([V], team("0"), [f"%y: {V}"]), [X])[0], X)
    with pytest.raises(UnsupportedError, match="a team of 2 devices is run here by one"):
        interpret(program([V], team("0, 1"), [f"%y: {V}"]), [X])

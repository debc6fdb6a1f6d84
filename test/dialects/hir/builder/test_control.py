"""Loops, branches and streams, as `with` statements."""

from __future__ import annotations

import hirc
from support.built_program import operations

_STREAMS = """\
%0 = "hir.stream"() {name = "side"} : () -> !hir.stream_t
%1 = "hir.current_stream"() : () -> !hir.stream_t
"hir.wait_stream"(%0, %1) : (!hir.stream_t, !hir.stream_t) -> ()
%2 = "hir.current_stream"() : () -> !hir.stream_t
"hir.set_stream"(%0) : (!hir.stream_t) -> ()
%3 = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
%4 = "hir.record"() : () -> !hir.event_t
"hir.set_stream"(%2) : (!hir.stream_t) -> ()
"hir.wait_event"(%4) : (!hir.event_t) -> ()
%5 = "hir.stream"(%c3) {pool = 4 : i64} : (index) -> !hir.stream_t
"hir.wait_event"(%4, %5) : (!hir.event_t, !hir.stream_t) -> ()
%6 = "hir.record"(%5) : (!hir.stream_t) -> !hir.event_t
"hir.synchronize"(%6) : (!hir.event_t) -> ()
"hir.synchronize"(%5) : (!hir.stream_t) -> ()
"hir.synchronize"() : () -> ()
"""


def lines(program: object, first: str) -> list[str]:
    """The program's lines from the one on that holds `first`."""
    found = [line.strip() for line in str(program).splitlines()]
    return found[next(place for place, line in enumerate(found) if first in line) :]


def test_a_loop() -> None:
    with hirc.program("main") as p:
        x = p.input("x", ("n", 8), "f32")
        with p.loop(p.size("n"), streams=4) as i:
            x[i] = 0.0
        with p.loop(2, 10, p.size("n")):
            pass
    assert lines(p, "hir.for")[:8] == [
        '"hir.for"(%c0, %dim, %c1) ({',
        "^bb0(%i: index):",
        '%0 = "hir.select"(%x, %i) {axis = 0 : i64} : '
        "(memref<?x8xf32>, index) -> memref<8xf32, strided<[1], offset: ?>>",
        '"hir.set"(%cst, %0) : (f32, memref<8xf32, strided<[1], offset: ?>>) -> ()',
        "}) {streams = 4 : i64} : (index, index, index) -> ()",
        '"hir.for"(%c2, %c10, %dim) ({',
        "^bb0(%i: index):",
        "}) : (index, index, index) -> ()",
    ]


def test_a_loop_that_a_condition_ends() -> None:
    with hirc.program("main") as p, p.loop(9) as i:
        p.stop_loop(i == 4)
    assert lines(p, "hir.for")[:5] == [
        '"hir.for"(%c0, %c9, %c1) ({',
        "^bb0(%i: index):",
        "%0 = arith.cmpi eq, %i, %c4 : index",
        '"hir.stop_loop"(%0) : (i1) -> ()',
        "}) : (index, index, index) -> ()",
    ]


def test_a_branch_with_results() -> None:
    with hirc.program("main") as p:
        n = p.size("n")
        x = p.input("x", (n, 8), "f32")
        with p.branch(n > 4) as branch:
            with branch.then:
                branch.output(x.relu(), n * 2)
            with branch.otherwise:
                branch.output(x[:2].copy().expand(n, 8).copy(), 3)
        y, k = branch.results
        assert y.shape == (n, 8)
        p.output("y", y)
        p.output("k", k + 1)
    names = [op.name for op in operations(p)]
    assert names.count("hir.output") == 6
    assert names[-5:] == ["hir.result", "hir.result", "arith.addi", "hir.output", "hir.output"]


def test_sizes_within_a_branch_are_not_those_outside() -> None:
    with hirc.program("main") as p:
        x, y = p.input("x", ("n",), "f32"), p.input("y", ("m",), "f32")
        with p.branch(p.scalar("c", "i1")) as branch:
            with branch.then:
                branch.output((x + y).exp())
            with branch.otherwise:
                branch.output(y.exp())
        z = branch.result
        p.allocate(z.shape, "f32")
    assert [op.name for op in operations(p)].count("memref.dim") == 1


def test_a_branch_without_a_second_side() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (8,), "f32")
        with p.branch(True) as branch, branch.then:
            p.relu(x, out=x)
        assert branch.results == ()
    assert "arith.constant true" in str(p)


def test_streams() -> None:
    with hirc.program("main") as p:
        x = p.input("x", (8,), "f32")
        side = p.stream("side")
        side.wait(p.current_stream())
        with side:
            x.neg()
            done = p.record()
        p.wait(done)
        other = p.stream(3, pool=4)
        other.wait(done)
        other.record().synchronize()
        other.synchronize()
        p.synchronize()
    assert lines(p, "hir.stream")[:15] == _STREAMS.splitlines()


def test_a_stream_is_restored_in_the_block_where_it_was_changed() -> None:
    with hirc.program("main") as p, p.loop(4) as i, p.stream(i), p.stream("inner"):
        pass
    assert [op.name for op in operations(p)].count("hir.set_stream") == 4

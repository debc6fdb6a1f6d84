"""Allocations, who owns them, and what must not be done with them."""

from __future__ import annotations

import pytest
import torch

from hirc.compiler.errors import InputError, UnsupportedError
from hirc.compiler.interpreter import Counts, Interpreter, interpret
from support.host_ir import program

V = "memref<8xf32>"
NEG = f'"hir.unary"(%0) {{kind = "neg"}} : ({V}) -> {V}'
X = torch.arange(8.0)


def run(body: str, outputs: list[str], inputs: list[str] | None = None) -> list[torch.Tensor]:
    return interpret(program(inputs or [V], body, outputs), [X.clone()])


def free(value: str) -> str:
    return f'"hir.deallocate"({value}) : ({V}) -> ()'


@pytest.mark.parametrize(
    ("type_", "attributes", "sizes", "strides"),
    [
        ("memref<?x?xf32>", "", (4, 6), (6, 1)),
        ("memref<?x?xf32, strided<[1, ?]>>", "order = array<i64: 1, 0>", (4, 6), (1, 4)),
        ("memref<?x?xf32>", "domain = [{split = 0, factor = 2}, {merge = 0}]", (4, 6), (6, 1)),
        # A split that does not divide evenly allocates the padded extent.
        ("memref<?x?xf32, strided<[?, 1]>>", "domain = [{split = 1, factor = 4}]", (4, 6), (8, 1)),
    ],
)
def test_allocate(
    type_: str, attributes: str, sizes: tuple[int, int], strides: tuple[int, int]
) -> None:
    body = f'  %y = "hir.allocate"(%0, %1) {{zero_init, {attributes}}} : (index, index) -> {type_}'
    body = body.replace("zero_init, }", "zero_init}")
    runner = Interpreter(program(["index", "index"], body, [f"%y: {type_}"]))
    (y,) = runner.run([4, 6])
    assert (y.shape, y.stride()) == (sizes, strides)
    assert y.count_nonzero() == 0
    size = 4 * sizes[0] * (8 if "split = 1" in attributes else sizes[1])
    assert runner.counts == Counts(size, size, 1, 0)


def test_a_negative_size() -> None:
    body = '  %y = "hir.allocate"(%0) : (index) -> memref<?xf32>'
    with pytest.raises(InputError, match="negative"):
        interpret(program(["index"], body, ["%y: memref<?xf32>"]), [-1])


def test_fresh_memory_is_poisoned_and_may_not_be_read() -> None:
    body = f"""\
  %y = "hir.allocate"() : () -> {V}
  %z = "hir.binary"(%y, %0) {{kind = "add"}} : ({V}, {V}) -> {V}"""
    with pytest.raises(
        InputError, match="reads elements of the buffer allocated at <stdin>:3:8 that"
    ):
        run(body, [f"%z: {V}"])


@pytest.mark.parametrize("made", ["allocate", "reuse"])
def test_what_is_fresh_holds_nan(made: str) -> None:
    body = f"""\
  %a = {NEG}
  %y = "hir.{made}"({"%a" if made == "reuse" else ""}) : ({V if made == "reuse" else ""}) -> {V}
  %r = "hir.host_call"() ({{
    "hir.argument"(%y) : ({V}) -> ()
  }}) {{callee = @look}} : () -> !hir.results_t"""
    seen: list[torch.Tensor] = []

    def look(y: torch.Tensor) -> None:
        seen.append(y.clone())

    interpret(program([V], body, [f"%y: {V}"]), [X], host_functions={"look": look})
    assert seen[0].isnan().all()


def test_a_part_that_was_not_written_may_not_be_read() -> None:
    body = """\
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %y = "hir.allocate"() : () -> memref<8xf32>
  %a = "hir.slice"(%y, %c0, %c3) {axis = 0 : i64} : (memref<8xf32>, index, index) -> memref<3xf32>
  %b = "hir.slice"(%0, %c0, %c3) {axis = 0 : i64} : (memref<8xf32>, index, index) -> memref<3xf32>
  "hir.set"(%b, %a) : (memref<3xf32>, memref<3xf32>) -> ()
"""
    assert run(body, ["%a: memref<3xf32>"])[0].tolist() == [0, 1, 2]
    with pytest.raises(InputError, match="output 'output0': nothing was written to some"):
        run(body, [f"%y: {V}"])


def test_a_buffer_may_not_be_used_after_it_was_freed() -> None:
    body = f'  %y = {NEG}\n  {free("%y")}\n  %z = "hir.set"(%y) : ({V}) -> {V}'
    with pytest.raises(
        InputError,
        match=r"'hir\.set' uses the buffer allocated at .*:3:8, and it was freed at .*:4:3",
    ):
        run(body, [f"%z: {V}"])


def test_a_buffer_may_not_be_freed_twice() -> None:
    body = f"  %y = {NEG}\n  {free('%y')}\n  {free('%y')}"
    with pytest.raises(InputError, match=r"is freed twice: it was freed at .*:4:3 already"):
        run(body, [f"%0: {V}"])


@pytest.mark.parametrize(
    ("body", "output", "message"),
    [
        (free("%0"), "%0", "input 'input0' is freed"),
        (f"%y = {NEG}\n{free('%y')}", "%y", "output 'output0': it was freed"),
    ],
)
def test_what_the_caller_has_may_not_be_freed(body: str, output: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(body, [f"{output}: {V}"])


BRANCH = f"""\
  %y = {NEG}
  %r = "hir.if"(%1) ({{
    {free("%y")}
  }}, {{
  ^bb0:
  }}) : (i1) -> !hir.results_t"""


def test_what_is_freed_on_one_path_leaks_on_the_other() -> None:
    text = program([V, "i1"], BRANCH, [f"%0: {V}"])
    interpret(text, [X, True])
    with pytest.raises(InputError, match=r"the buffer allocated at .*:3:8 leaks"):
        interpret(text, [X, False])


def test_leaks_where_they_are_asked_for() -> None:
    text = program([V], f"  %y = {NEG}", [f"%0: {V}"])
    interpret(text, [X])
    with pytest.raises(InputError, match="leaks"):
        Interpreter(text, check_leaks=True).run([X])


def test_counts() -> None:
    body = f"""\
  %a = {NEG}
  %b = "hir.set"(%a) : ({V}) -> {V}
  {free("%a")}
  %c = "hir.set"(%b) : ({V}) -> memref<8xf64>
  {free("%b")}
  %d = "hir.set"(%0) : ({V}) -> memref<8xi8>
  "hir.deallocate"(%d) : (memref<8xi8>) -> ()"""
    runner = Interpreter(program([V], body, ["%c: memref<8xf64>"]), check_leaks=True)
    runner.run([X])
    assert runner.counts == Counts(64, 96, 4, 3)
    runner = Interpreter(program([V], body, ["%c: memref<8xf64>"]), check_leaks=True)
    runner.run([X], [torch.zeros(8, dtype=torch.float64)])
    assert runner.counts == Counts(0, 64, 3, 3)


REUSE = f"""\
  %a = {NEG}
  %b = "hir.set"(%a) : ({V}) -> {V}
  %c = "hir.reuse"(%a) : ({V}) -> memref<4xi64>
"""
FILL = """\
  %one = arith.constant 1 : i64
  "hir.set"(%one, %c) : (i64, memref<4xi64>) -> ()
"""


def test_reuse() -> None:
    runner = Interpreter(program([V], REUSE + FILL, [f"%b: {V}", "%c: memref<4xi64>"]))
    _, c = runner.run([X])
    assert c.tolist() == [1, 1, 1, 1]
    assert runner.counts == Counts(64, 64, 2, 0)


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (f'  %z = "hir.set"(%a) : ({V}) -> {V}', "uses .*, and its memory was reused at"),
        (f"  {free('%a')}", "is freed twice: its memory was reused at"),
        ('  %z = "hir.set"(%c) : (memref<4xi64>) -> memref<4xi64>', "nothing was written to"),
        (f'  %z = "hir.reuse"(%0) : ({V}) -> {V}', "its memory is the caller's"),
        (
            f'  %i = arith.constant 9 : index\n  %z = "hir.reuse"(%b, %i)'
            f" : ({V}, index) -> memref<?xf32>",
            "36 bytes do not fit in the 32",
        ),
    ],
)
def test_reuse_that_is_wrong(rest: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(REUSE + rest, [f"%b: {V}"])


def alias(buffer: str, target: str) -> str:
    return f'  "hir.alias"({buffer}, {target}) : ({V}, {V}) -> ()\n'


def test_an_alias_of_an_input() -> None:
    text = program([V], f"  %y = {NEG}\n" + alias("%y", "%0"), [f"%y: {V}"])
    x = X.clone()
    runner = Interpreter(text)
    assert runner.run([x])[0].data_ptr() == x.data_ptr()
    assert torch.equal(x, -X)
    assert runner.counts == Counts()


def test_aliases_form_chains() -> None:
    body = f"""\
  %c = "hir.allocate"() : () -> {V}
  %b = {NEG}
  %a = "hir.unary"(%b) {{kind = "abs"}} : ({V}) -> {V}
"""
    text = program([V], body + alias("%a", "%b") + alias("%b", "%c"), [f"%a: {V}"])
    runner = Interpreter(text)
    y = torch.zeros(8)
    assert runner.run([X], [y])[0].data_ptr() == y.data_ptr()
    assert torch.equal(y, X)
    assert runner.counts == Counts()


def test_memory_kinds_are_taken() -> None:
    for kind in ("device", "pinned", "managed", "symmetric"):
        body = f'  %y = "hir.allocate"() {{memory = "{kind}", zero_init}} : () -> {V}'
        assert run(body, [f"%y: {V}"])[0].tolist() == [0] * 8


def test_an_output_that_is_allocated_is_the_callers_buffer() -> None:
    body = f"""\
  %y = "hir.allocate"() {{output = 0, zero_init}} : () -> {V}
  %s = arith.constant 3.0 : f32
  "hir.binary"(%y, %s, %y) {{kind = "add"}} : ({V}, f32, {V}) -> ()"""
    y = torch.full((16,), 7.0)
    (result,) = interpret(program([V], body, [f"%y: {V}"]), [X], [y[::2]])
    assert result.data_ptr() == y.data_ptr()
    assert y.tolist() == [3.0, 7.0] * 8


_CONSTANT = "memref.global constant @numbers : memref<8xf32> = dense<2.5>\n"
_GET = "  %c = memref.get_global @numbers : memref<8xf32>\n"


_ON_DEVICE = 'memref.global "private" @numbers : memref<8xf32>\n'


@pytest.mark.parametrize("where", ["NUMBERS", f"{_ON_DEVICE}gpu.module @constants {{\nNUMBERS}}\n"])
def test_constants_of_the_host_and_of_device_code(where: str) -> None:
    body = f'{_GET}  %y = "hir.binary"(%c, %0) {{kind = "add"}} : ({V}, {V}) -> {V}'
    text = where.replace("NUMBERS", _CONSTANT) + program([V], body, [f"%y: {V}"])
    (y,) = interpret(text, [X])
    assert torch.equal(y, X + 2.5)


def test_a_constant_is_not_written_to() -> None:
    body = f'{_GET}  "hir.unary"(%0, %c) {{kind = "neg"}} : ({V}, {V}) -> ()'
    with pytest.raises(InputError, match="the destination, @numbers, is constant"):
        interpret(_CONSTANT + program([V], body, []), [X])


def test_memory_of_no_value_is_refused() -> None:
    text = "memref.global @numbers : memref<8xf32>\n" + program([V], _GET, [])
    with pytest.raises(UnsupportedError, match="memory of constants, and none of @numbers"):
        interpret(text, [X])

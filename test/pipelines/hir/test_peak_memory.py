"""The peak of a program's memory, as a number or a formula."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.pipelines.hir.memory.formula import Atom, Formula, maximum
from hirc.pipelines.hir.memory.peak_memory import PeakMemory, peak_memory


def peak_of(body: str, inputs: str, types: str, described: str = "") -> PeakMemory:
    text = (
        f'"hir.program"() ({{\n^bb0({inputs}):\n{body}\n}}) '
        f'{{sym_name = "main"{described}, function_type = ({types}) -> ()}} : () -> ()\n{CALLEE}'
    )
    module = ir.Module.parse(text, Session().context)
    return peak_memory(next(iter(module.body)).operation)


CALLEE = """
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %t = "hir.allocate"(%n) : (index) -> memref<?xf32>
  "hir.deallocate"(%t) : (memref<?xf32>) -> ()
  %y = "hir.allocate"(%n) {output = 0 : i64} : (index) -> memref<?xf16>
  "hir.output"(%y) : (memref<?xf16>) -> ()
}) {sym_name = "callee", function_type = (memref<?xf32>) -> memref<?xf16>} : () -> ()
"""
CALL = """
  %r = "hir.call"() ({
    "hir.argument"(%x) : (memref<?xf32>) -> ()
  }) {callee = @callee} : () -> !hir.results_t
  %y = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<?xf16>
  %b = "hir.allocate"() : () -> memref<8xf32>
  "hir.deallocate"(%y) : (memref<?xf16>) -> ()
"""


def test_branches_count_the_greater_and_loops_once() -> None:
    body = """
  %one = arith.constant 1 : index
  %a = "hir.allocate"() : () -> memref<10xf32>
  "hir.for"(%one, %n, %one) ({
  ^bb0(%i: index):
    %t = "hir.allocate"() : () -> memref<100xf32>
    "hir.deallocate"(%t) : (memref<100xf32>) -> ()
  }) : (index, index, index) -> ()
  %r = "hir.if"(%c) ({
    %y = "hir.allocate"() : () -> memref<50xf64>
    "hir.output"(%y) : (memref<50xf64>) -> ()
  }, {
    %t = "hir.allocate"() : () -> memref<20xf32>
    "hir.deallocate"(%t) : (memref<20xf32>) -> ()
    %y = "hir.allocate"() : () -> memref<50xf64>
    "hir.output"(%y) : (memref<50xf64>) -> ()
  }) : (i1) -> !hir.results_t
  %y = "hir.result"(%r) {index = 0 : i64} : (!hir.results_t) -> memref<50xf64>
  %u = "hir.reuse"(%a) : (memref<10xf32>) -> memref<5xf32>
  %b = "hir.allocate"() : () -> memref<1xf32>
  "hir.deallocate"(%u) : (memref<5xf32>) -> ()
  "hir.deallocate"(%y) : (memref<50xf64>) -> ()"""
    assert peak_of(body, "%c: i1, %n: index", "i1, index") == PeakMemory(444, "444")


def test_sizes_have_the_names_of_the_inputs() -> None:
    body = """
  %zero = arith.constant 0 : index
  %n = memref.dim %x, %zero : memref<?x64xf32>
  %a = "hir.allocate"(%n) : (index) -> memref<?x64xf32>
  %b = "hir.allocate"() : () -> memref<64xf32>"""
    found = peak_of(
        body,
        "%x: memref<?x64xf32>",
        "memref<?x64xf32>",
        ', inputs = [{name = "x", sizes = ["n", 64]}]',
    )
    assert found == PeakMemory(None, "256*n + 256")


def test_padding_of_a_split_counts() -> None:
    body = """
  %a = "hir.allocate"() {domain = [{split = 0, factor = 4}]} : () -> memref<5xf32>
  %b = "hir.allocate"(%n) {domain = [{split = 0, factor = 4}]} : (index) -> memref<?xf32>"""
    assert peak_of(body, "%n: index", "index").text == "16*ceildiv(input0, 4) + 32"


def test_a_call_has_the_callee_on_top() -> None:
    found = peak_of(CALL, "%x: memref<?xf32>", "memref<?xf32>")
    assert found.text == "max(2*input0.size(0) + 32, 4*input0.size(0))"


def test_a_call_with_known_sizes_is_a_number() -> None:
    call = CALL.replace("(%x) : (memref<?xf32>)", "(%x) : (memref<6xf32>)")
    assert peak_of(call, "%x: memref<6xf32>", "memref<6xf32>") == PeakMemory(44, "44")


N, M = (Formula.of(Atom(name, name)) for name in "nm")


@pytest.mark.parametrize(
    ("low", "high", "is_at_most"),
    [
        (N, N + Formula.of(1), True),
        (N + Formula.of(1), N, False),
        (N * M, N, False),
        (N, N * M, False),
        (N, N + M, True),
        (Formula.of(3), Formula.of(4), True),
    ],
)
def test_what_is_certainly_less(low: Formula, high: Formula, is_at_most: bool) -> None:
    assert low.at_most(high) == is_at_most


def test_the_maximum_keeps_what_may_be_greatest() -> None:
    assert maximum([N, M, N + Formula.of(1), Formula()]) == [M, N + Formula.of(1)]
    assert str(N * M * Formula.of(4) + N - Formula.of(2)) == "4*m*n + n - 2"


def test_comparisons_grow_with_the_operations_times_the_peaks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is known not to exceed one another is not compared again at every operation."""
    count = 0
    at_most = Formula.at_most

    def counted(one: Formula, other: Formula) -> bool:
        nonlocal count
        count += 1
        return at_most(one, other)

    def peaks(number: int) -> PeakMemory:
        body = ""
        for i in range(1, number):
            for value, rows in (("a", i), ("b", number - i)):
                kind = f"memref<?x{rows}xf32>"
                body += f'%{value}{i} = "hir.allocate"(%{value}) : (index) -> {kind}\n'
            for value, rows in (("a", i), ("b", number - i)):
                body += f'"hir.deallocate"(%{value}{i}) : (memref<?x{rows}xf32>) -> ()\n'
        return peak_of(body, "%a: index, %b: index", "index, index")

    monkeypatch.setattr(Formula, "at_most", counted)
    assert peaks(10).text.count(",") == 8
    few, count = count, 0
    assert peaks(20).text.count(",") == 18
    assert count < 5 * few


_COEFFICIENTS = st.lists(st.integers(-2, 3), min_size=4, max_size=4)


def _of_coefficients(coefficients: list[int]) -> Formula:
    x, y = Formula.of(Atom("x", "x")), Formula.of(Atom("y", "y"))
    factors = (Formula.of(1), x, y, x * y)
    products = (Formula.of(c) * each for c, each in zip(coefficients, factors, strict=True))
    return sum(products, Formula())


@given(st.lists(_COEFFICIENTS, max_size=6), st.lists(_COEFFICIENTS, max_size=4))
def test_the_greatest_are_found_in_parts(first: list[list[int]], second: list[list[int]]) -> None:
    one, other = ([_of_coefficients(each) for each in part] for part in (first, second))
    assert maximum(other, maximum(one)) == maximum([*maximum(one), *other])
    for formula in (*one, *other):
        for each in one:
            differences = [coefficient for _, coefficient in (each - formula).terms]
            assert formula.at_most(each) == all(value >= 0 for value in differences)

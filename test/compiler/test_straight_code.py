"""Which host functions are optimised: what stays in proportion, and what may be a loop."""

from __future__ import annotations

from hirc.compiler.host_code import left_as_they_are
from hirc.compiler.llvm_ir import LlvmModule, host_machine


def _function(name: str, count: int, *, loops: bool = False) -> str:
    lines = [f"  %v{i + 1} = add i32 %v{i}, {i}" for i in range(count)]
    start = ["  br label %again", "again:"] if loops else []
    end = ["  br i1 true, label %again, label %out", "out:"] if loops else []
    first = "%v0 = phi i32 [ %x, %0 ], [ %v1, %again ]" if loops else "%v0 = add i32 %x, 1"
    body = "\n".join([*start, first, *lines, *end, f"  ret i32 %v{count}"])
    return f"define i32 @{name}(i32 %x) {{\n{body}\n}}\n"


def test_large_functions_are_left() -> None:
    text = _function("small", 100) + _function('"a large"', 5_000) + _function("other", 100)
    assert left_as_they_are(text) == ["a large"]


def test_functions_with_loops_may_be_larger() -> None:
    text = _function("loops", 5_000, loops=True) + _function("straight", 5_000)
    assert left_as_they_are(text) == ["straight"]
    assert left_as_they_are(_function("loops", 30_000, loops=True)) == ["loops"]


def test_no_more_than_so_many_instructions_are_optimised() -> None:
    text = "".join(_function(f"f{i}", 1_000) for i in range(100)) + _function("l", 9, loops=True)
    left = left_as_they_are(text)
    assert 70 <= len(left) <= 90
    assert "l" not in left


def test_what_is_left_is_as_it_was() -> None:
    text = _function("large", 5_000) + _function("small", 100)
    text += _function("inlined", 5_000).replace("%x) {", "%x) alwaysinline {")
    module = LlvmModule(text, host_machine(2), name="host")
    module.forbid_optimizing(left_as_they_are(text))
    module.optimize()
    bodies = {each.name: str(each).count(" = add ") for each in module.raw.functions}
    assert bodies == {"large": 5_001, "small": 1, "inlined": 1}

"""Which host functions are optimised: what stays in proportion, and what may be a loop."""

from __future__ import annotations

import pytest

from hirc.compiler.llvm_ir import LlvmModule, host_machine
from hirc.compiler.straight_code import host_functions


def _function(name: str, count: int, *, loops: bool = False) -> str:
    lines = [f"  %v{i + 1} = add i32 %v{i}, {i}" for i in range(count)]
    start = ["  br label %again", "again:"] if loops else []
    end = ["  br i1 true, label %again, label %out", "out:"] if loops else []
    first = "%v0 = phi i32 [ %x, %0 ], [ %v1, %again ]" if loops else "%v0 = add i32 %x, 1"
    body = "\n".join([*start, first, *lines, *end, f"  ret i32 %v{count}"])
    return f"define i32 @{name}(i32 %x) {{\n{body}\n}}\n"


def test_large_functions_are_left() -> None:
    text = _function("small", 100) + _function('"a large"', 5_000) + _function("other", 100)
    assert host_functions(text).kept == ["a large"]


def test_functions_with_loops_may_be_larger() -> None:
    text = _function("loops", 5_000, loops=True) + _function("straight", 5_000)
    assert host_functions(text).kept == ["straight"]
    assert host_functions(_function("loops", 30_000, loops=True)).kept == ["loops"]


def test_no_more_than_so_many_instructions_are_optimised() -> None:
    text = "".join(_function(f"f{i}", 1_000) for i in range(100)) + _function("l", 9, loops=True)
    left = host_functions(text).kept
    assert 70 <= len(left) <= 90
    assert "l" not in left


def test_what_is_left_is_as_it_was() -> None:
    text = _function("large", 5_000) + _function("small", 100)
    text += _function("inlined", 5_000).replace("%x) {", "%x) alwaysinline {")
    module = LlvmModule(text, host_machine(2), name="host")
    module.forbid_optimizing(host_functions(text).kept)
    module.optimize()
    bodies = {each.name: str(each).count(" = add ") for each in module.raw.functions}
    assert bodies == {"large": 5_001, "small": 1, "inlined": 1}


@pytest.mark.parametrize(("count", "often"), [(500, ["launch"]), (50, [])])
def test_functions_of_many_calls_are_not_copied(count: int, often: list[str]) -> None:
    calls = "".join(f"  call void @launch(ptr %p, i32 {n})\n" for n in range(count))
    stores = "".join(f"  store volatile i32 %n, ptr %p, align {4 << n % 3}\n" for n in range(30))
    text = f"define internal void @launch(ptr %p, i32 %n) {{\n{stores}  ret void\n}}\n"
    text += f"define void @main(ptr %p) {{\n{calls}  ret void\n}}\n"
    assert host_functions(text).called_often == often
    module = LlvmModule(text, host_machine(2), name="host")
    module.forbid_inlining(often)
    module.optimize()
    main = str(module.raw.get_function("main"))
    assert main.count("@launch(") == (count if often else 0)


_CALLS = """
define internal i32 @once(i32 %x) { %y = add i32 %x, 0 ret i32 %y }
define internal i32 @twice(i32 %x) { %y = mul i32 %x, %x ret i32 %y }
define internal i32 @pinned(i32 %x) noinline { %y = mul i32 %x, %x ret i32 %y }
define i32 @main(i32 %x) {
  %slot = alloca i32
  %a = call i32 @once(i32 %x)
  %b = call i32 @twice(i32 %a)
  %c = tail call i32 @twice(i32 %b)
  %d = call i32 @pinned(i32 %c)
  store i32 %d, ptr %slot
  %e = load i32, ptr %slot
  ret i32 %e
}
"""


def test_functions_that_one_call_names_become_part_of_it() -> None:
    text = _CALLS.replace("{ %", "{\n  %").replace(" ret", "\n  ret").replace(" }", "\n}")
    functions = host_functions(text)
    assert functions.are_straight
    assert functions.called_once == {"once", "pinned"}
    module = LlvmModule(text, host_machine(2), name="host")
    module.optimize_straight(functions.called_once)
    bodies = {each.name: str(each) for each in module.raw.functions}
    assert set(bodies) == {"main", "twice", "pinned"}
    assert "alloca" not in bodies["main"]
    assert "add i32" not in bodies["main"]


def test_code_with_a_loop_is_not_straight() -> None:
    assert not host_functions(_function("a", 1) + _function("l", 9, loops=True)).are_straight


@pytest.mark.parametrize("level", [0, 3])
def test_levels_that_ask_for_less_or_more_get_it(level: int) -> None:
    text = "define i32 @f(i32 %x) {\n  %slot = alloca i32\n  store i32 %x, ptr %slot\n"
    text += "  %y = load i32, ptr %slot\n  ret i32 %y\n}\n"
    module = LlvmModule(text, host_machine(level), name="host")
    module.optimize_straight([])
    assert ("alloca" in module.text()) == (level == 0)

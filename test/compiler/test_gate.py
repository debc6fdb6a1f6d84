"""The gate: every construct that MLIR or the producer's LLVM prints, read by LLVM 22.

The files of `gate/` hold one module a case. `REFUSED` names the construct that the gate must
refuse, `UNKNOWN` the intrinsic that LLVM 22 must be found not to know. All other cases must mean
the same to LLVM 22: what it prints of them, read by the producer, is what the producer printed.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from hirc.compiler.gate import GateError, to_consumer, unknown_intrinsics
from hirc.compiler.gate.scan import RULES
from hirc.compiler.gate.versions import FIRST_VERSION, OLDEST
from hirc.compiler.session import Session
from hirc.compiler.translate import to_llvm_ir
from hirc.dialects.mlir import PRODUCER_LLVM, ir
from support.producer_llvm import meaning, printed

_CASES = Path(__file__).parent / "gate"
_FLAG = "nnan|ninf|nsz|arcp|contract|afn|reassoc|fast"
# What the gate drops or respells as a string attribute, which only the optimizer would read.
_LOSSES = (
    (re.compile(rf"\b([us]itofp )(?:(?:{_FLAG}) )+"), r"\1"),
    (re.compile(r" dead_on_return\(\d+\)"), ""),
    (re.compile(r" prefalign\(\d+\)"), ""),
    (re.compile(r", dialect: \w+"), ""),
    (re.compile(r'"flatten"'), "flatten"),
    (re.compile(r' "?nooutline"?'), ""),
    (re.compile(r"denormal_fpenv\([^)]*\)"), "DENORMAL"),
    (
        re.compile(r'"denormal-fp-math(?:-f32)?"="[^"]*"(?: "denormal-fp-math-f32"="[^"]*")?'),
        "DENORMAL",
    ),
)


def _cases() -> dict[str, str]:
    """Each case's module by the file and the case's name."""
    cases: dict[str, str] = {}
    for path in sorted(_CASES.glob("*.mlir")):
        for case in re.split(r"^// CASE ", path.read_text(), flags=re.MULTILINE)[1:]:
            name, _, module = case.partition("\n")
            cases[f"{path.stem}: {name}"] = module
    return cases


def _parsed(text: str) -> llvm.ModuleRef:
    module = llvm.parse_assembly(text)
    module.verify()
    return module


def _expected(text: str) -> list[str]:
    """The producer's own print of either version's text, without what the gate may lose."""
    joined = "\n".join(meaning(text))
    for pattern, replacement in _LOSSES:
        joined = pattern.sub(replacement, joined)
    lines = joined.splitlines()
    # The order of declarations means nothing, and a renamed intrinsic goes to their end.
    declarations = sorted(line for line in lines if line.startswith("declare "))
    return [line for line in lines if not line.startswith("declare ")] + declarations


def _gated(text: str) -> llvm.ModuleRef:
    """The module as LLVM 22 reads it through the gate, found to mean what `text` means."""
    module = _parsed(to_consumer(text))
    assert _expected(str(module)) == _expected(text)
    return module


@pytest.mark.parametrize("module", _cases().values(), ids=_cases().keys())
def test_mlir(module: str) -> None:
    session = Session()
    op = ir.Module.parse(module, context=session.context).operation
    text = to_llvm_ir(op, consumer=PRODUCER_LLVM)
    marks = dict(re.findall(r"^// (REFUSED|UNKNOWN) (.+)$", module, flags=re.MULTILINE))
    if "REFUSED" in marks:
        with pytest.raises(GateError) as refusal:
            to_consumer(text)
        assert refusal.value.construct == marks["REFUSED"]
        return
    unknown = unknown_intrinsics(_gated(text))
    assert unknown == ([marks["UNKNOWN"]] if "UNKNOWN" in marks else [])


_FUNCTION = "define void @f(i32 %i, ptr %p, <2 x i32> %v) {{\n  {}\n  ret void\n}}\n"
_REWRITTEN = {
    "uitofp": _FUNCTION.format("%x = uitofp nnan nneg i32 %i to float"),
    "uitofp fast": _FUNCTION.format("%x = uitofp fast i32 %i to float"),
    "sitofp": _FUNCTION.format("%x = sitofp reassoc contract <2 x i32> %v to <2 x half>"),
    "prefalign": "define void @f() prefalign(64) {\n  ret void\n}",
    "flatten alone": "define void @f() flatten {\n  ret void\n}",
    "nooutline": "define void @f() nooutline nounwind {\n  ret void\n}",
    "dead_on_return": "define void @f(ptr dead_on_return(8) %p) {\n  ret void\n}",
    "denormal_fpenv": "define void @f() denormal_fpenv(dynamic) nounwind {\n  ret void\n}",
    "target memory": "declare void @f() memory(target_mem: write)",
    "no target memory": "declare void @f() memory(read, target_mem: none)",
    "dialect": '!llvm.dbg.cu = !{!0}\n!1 = !{i32 2, !"Debug Info Version", i32 3}\n'
    "!llvm.module.flags = !{!1}\n!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !2, "
    "emissionKind: LineTablesOnly, dialect: DW_LLVM_LANG_DIALECT_simt)\n"
    '!2 = !DIFile(filename: "a", directory: "/")',
    "module asm": 'module asm "a; b \\22c\\22"\nmodule asm "    d"\n@g = global i32 0',
    "float debug value": "!0 = !{float f0x3EAAAAAB}\n!numbers = !{!0}",
    "ppc_fp128": "@a = global [3 x ppc_fp128] [ppc_fp128 -inf, ppc_fp128 +nan(0x1), "
    "ppc_fp128 f0x3C755555555555553FD5555555555555]\n"
    "@b = global [2 x ppc_fp128] [ppc_fp128 -1.5, ppc_fp128 0.0]",
    "x86_fp80": "@a = global [5 x x86_fp80] [x86_fp80 -inf, x86_fp80 +nan(0x1), "
    "x86_fp80 -snan(0x1), x86_fp80 1.000000e+00, x86_fp80 +qnan]",
    "fp128": "@a = global [4 x fp128] [fp128 -inf, fp128 +nan(0x1), fp128 -snan(0x1), "
    "fp128 1.000000e-01]",
    "word in a quoted name": '@"float 1.0e-1" = global float f0x3EAAAAAB\n'
    '@"b8 noipa" = global ptr @"float 1.0e-1"',
    "words that are names": "%flatten = type { float }\n@noipa = global %flatten { float "
    "f0x3EAAAAAB }\ndefine void @b8(float %float) {\n  br label %flatten\nflatten:\n"
    "  %f0x1 = fadd float %float, +inf\n  br label %b8\nb8:\n  br label %flatten\n}",
}
_REFUSED = {
    "atomicrmw fmaximumnum and fminimumnum": "%x = atomicrmw volatile fmaximumnum ptr %p, float "
    "1.0 seq_cst",
    "atomicrmw elementwise": "%x = atomicrmw elementwise add ptr %p, <2 x i32> %v monotonic",
    "atomic load and store elementwise": "%x = load atomic elementwise <2 x i32>, ptr %p "
    "monotonic, align 8",
    "atomicrmw on integer vectors": "%x = atomicrmw add ptr %p, <2 x i32> %v seq_cst",
    "atomicrmw xchg on vectors": "%x = atomicrmw xchg ptr %p, <2 x half> zeroinitializer acquire",
    "byte types": "%x = alloca [4 x b32]",
}


@pytest.mark.parametrize("text", _REWRITTEN.values(), ids=_REWRITTEN.keys())
def test_llvm(text: str) -> None:
    _gated(printed(text))


@pytest.mark.parametrize(("construct", "line"), _REFUSED.items(), ids=_REFUSED.keys())
def test_refusal_names_construct_line_and_function(construct: str, line: str) -> None:
    before = "define void @before() {\n  ret void\n}\n"
    text = printed(before + _FUNCTION.format(line) + before.replace("before", "after"))
    with pytest.raises(GateError) as refusal:
        to_consumer(text)
    error = refusal.value
    assert (error.construct, error.consumer, error.function) == (construct, 22, "f")
    assert error.since == FIRST_VERSION[construct] > 22
    assert error.line in text.splitlines()
    assert line.split()[2] in error.line
    assert construct in str(error)
    assert "'f'" in str(error)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("define void @f() {\n  ret void\n}\n@g = global b32 1", "@g = global b32 1"),
        ("%t = type { i32, b8 }\n@g = external global %t", "%t = type { i32, b8 }"),
        ('module asm(target_cpu: "x") "nop"', 'module asm(target_cpu: "x")'),
    ],
)
def test_refusal_outside_of_functions(text: str, line: str) -> None:
    with pytest.raises(GateError) as refusal:
        to_consumer(printed(text))
    assert refusal.value.function is None
    assert refusal.value.line == line


def test_refusal_of_an_attribute_names_the_function_that_has_it() -> None:
    text = printed(
        'declare void @a() "x"\ndefine void @"b c"() noipa {\n  ret void\n}\ndeclare void @d()'
    )
    with pytest.raises(GateError) as refusal:
        to_consumer(text)
    assert refusal.value.function == "b c"
    assert refusal.value.line == "attributes #1 = { noipa }"


def test_denormals_of_each_direction_and_type() -> None:
    modes = {
        "preservesign": '"denormal-fp-math"="preserve-sign,preserve-sign"',
        "positivezero|ieee": '"denormal-fp-math"="positive-zero,ieee"',
        "float: dynamic": '"denormal-fp-math-f32"="dynamic,dynamic"',
        "preservesign, float: ieee|dynamic": '"denormal-fp-math"="preserve-sign,preserve-sign" '
        '"denormal-fp-math-f32"="ieee,dynamic"',
    }
    for mode, expected in modes.items():
        text = printed(f"define void @f() denormal_fpenv({mode}) {{\n  ret void\n}}")
        assert f"{{ {expected} }}" in to_consumer(text)
        _parsed(to_consumer(text))


def test_text_for_the_producers_own_version_stays() -> None:
    text = printed("@a = global float f0x3EAAAAAB\ndeclare void @f() flatten")
    assert to_consumer(text, consumer=PRODUCER_LLVM) == text


def test_a_version_between_keeps_what_it_knows() -> None:
    text = printed("@a = global float +inf\ndeclare void @f() memory(target_mem: read)")
    between = to_consumer(text, consumer=23)
    assert "float +inf" in between
    assert "memory(target_mem0: read, target_mem1: read)" in between


def test_consumers_older_than_the_table_are_refused() -> None:
    with pytest.raises(ValueError, match="older"):
        to_consumer("", consumer=OLDEST - 1)


def test_every_rule_is_in_the_table_and_needed() -> None:
    versions = {rule.construct: FIRST_VERSION[rule.construct] for rule in RULES}
    assert min(versions.values()) > OLDEST
    assert max(versions.values()) <= PRODUCER_LLVM


def test_unknown_intrinsics_are_told_from_known_ones() -> None:
    # Attributes as the producer prints them, on both.
    module = llvm.parse_assembly(
        "declare float @llvm.sqrt.f32(float)\n"
        "declare void @llvm.gone.and.new(i32) #0\n"
        "declare void @llvmlike(i32)\n"
        "attributes #0 = { nocallback nofree nosync nounwind }"
    )
    assert unknown_intrinsics(module) == ["llvm.gone.and.new"]


@pytest.mark.parametrize("kind", ["code", "constants"])
def test_speed_is_linear_and_a_megabyte_takes_a_moment(kind: str) -> None:
    if kind == "code":
        lines = (
            f"  %m{i} = fmul float %a, f0x3E{i:06X}\n  %s{i} = add nuw nsw i32 %i, {i}"
            for i in range(14000)
        )
        text = printed(
            "define void @f(float %a, i32 %i) {\n" + "\n".join(lines) + "\n  ret void\n}"
        )
    else:
        values = ", ".join(f"float f0x3E{i:06X}" for i in range(60000))
        text = printed(f"@g = global [60000 x float] [{values}]")
    assert len(text) > 0.9e6
    start = time.process_time()
    to_consumer(text)
    # Ten times what it takes on an idle machine, so that only a change of order fails.
    assert time.process_time() - start < 3.0

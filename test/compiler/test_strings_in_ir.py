"""Strings, quoted names and metadata that look like IR stay as they are, whatever is edited.

They hold every pattern that an edit of IR as text looks for.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from hirc.compiler.cpu_device.inlining import with_stops_inlined
from hirc.compiler.cpu_device.retarget import RetargetOptions, retarget
from hirc.compiler.gate import to_consumer
from hirc.compiler.ir_text import IrText, escaped, without_line_tables
from hirc.compiler.llvm_ir import LlvmModule, device_machine, host_machine
from hirc.compiler.target import CPU
from hirc.tools.hirc import main as hirc
from support.edit_patterns import patterns, texts

# What no source of the compiler holds, but a program may.
_OTHERS = (
    *(
        "addrspace(3)",
        " addrspace(3)",
        "@llvm.memcpy.p3",
        "ptr addrspace(3) @shared",
        "call void @x(",
    ),
    *(
        "; comment",
        "/* comment */",
        "{ [ ( <",
        "> ) ] }",
        ", !dbg !7",
        "!dbg !7",
        "%1",
        "%x = ",
        "\\22",
    ),
    *(
        '"',
        '"¶0"',
        "¶0",
        "hirc.q.$20",
        "back\\slash",
        "align 4",
        "emissionKind: LineTablesOnly",
        "größe",
    ),
    *(
        "\n}\ndefine void @f() {",
        "attributes #0 = {",
        "float 1.1e+00",
        "asm sideeffect",
        "#0",
        "\0\1\xff",
    ),
)
_QUICK = settings(
    max_examples=15,
    # A failing list is short enough to be read, and making it shorter takes minutes.
    phases=[Phase.generate],
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
_MATCHING = st.lists(
    st.sampled_from(patterns()).flatmap(st.from_regex).filter(bool), min_size=5, max_size=10
)


def _hostile(held: Sequence[str]) -> str:
    """A device module whose names and strings are `held`."""
    data = [text.encode("utf-8", "surrogateescape") for text in held]
    variables = [
        f'@string.{n} = addrspace(1) constant [{len(item)} x i8] c"{escaped(item)}"'
        for n, item in enumerate(data)
    ]
    # A name has no null, and no two are equal.
    names = [f"{escaped(item.replace(bytes(1), b''))} {n}" for n, item in enumerate(data)]
    variables += [f'@"v {name}" = addrspace(1) global i32 {n}' for n, name in enumerate(names)]
    names = names[:: max(1, len(names) // 40)]
    functions = [
        f"""
define void @"f {name}"(i32 %"p {name}") #{n} {{
"l {name}":
  %"a {name}" = add i32 %"p {name}", {n}, !noted !{n}
  store i32 %"a {name}", ptr addrspace(1) @"v {name} {n}", align 4
  %"c {name}" = icmp eq i32 %"a {name}", 1
  br i1 %"c {name}", label %"n {name}", label %"m {name}"
"n {name}":
  %"b {name}" = phi i32 [ 1, %"l {name}" ], [ %"b {name}", %"n {name}" ]
  %"d {name}" = icmp eq i32 %"b {name}", 1
  br i1 %"d {name}", label %"n {name}", label %"m {name}"
"m {name}":
  store atomic i32 %"a {name}", ptr addrspace(3) @shared syncscope("s {name}") release, align 4
  ret void
}}
attributes #{n} = {{ noinline "k {n}"="{name}" }}
!{n} = !{{!"{name}"}}
"""
        for n, name in enumerate(names)
    ]
    for n, name in enumerate(names):
        functions[n] = functions[n].replace(f'"v {name} {n}"', f'"v {name}"')
    calls = "\n".join(f'  call void @"f {name}"(i32 %x)' for name in names)
    kernel = f"""
define ptx_kernel void @"k {names[0]}"() {{
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
{calls}
  ret void
}}
"""
    return "\n".join(["@shared = addrspace(3) global i32 undef", *variables, *functions, kernel])


def _module(text: str) -> LlvmModule:
    module = LlvmModule(text, device_machine(CPU.chip, 0), name="hostile")
    module.verify()
    return module


def _strings_of(module: LlvmModule) -> dict[str, str]:
    found = re.findall(r"(?m)^@(string\.\d+) = .*? constant \[\d+ x i8\] (.*)$", module.text())
    return {name: value.partition(", align")[0] for name, value in found}


def _names(module: LlvmModule) -> set[str]:
    names = {*module.defined_variables(), *module.defined_functions()}
    return {name for name in names if name[:2] in ("v ", "f ")}


def _keeps_all(held: Sequence[str]) -> None:
    given_module = _module(_hostile(held))
    text = given_module.text()
    without_comments = "\n".join(
        line for line in re.sub(r" +; preds = [^\n]*", "", text).split("\n") if line[:1] != ";"
    )
    assert IrText.of(without_comments).whole() == without_comments
    assert to_consumer(text) == text
    assert without_line_tables(IrText.of(without_comments)).whole() == without_comments
    device = with_stops_inlined(IrText.of(text), device_machine(CPU.chip, 0))
    for options in (
        RetargetOptions(debug=True),
        RetargetOptions(checks=frozenset({"memory", "race"}), wide_cpu="x86-64-v3"),
    ):
        made = LlvmModule(retarget(device, (), options), host_machine(0), name="host")
        made.verify()
        assert _strings_of(made) == _strings_of(given_module)
        assert _names(made) == _names(given_module)


def test_what_edits_look_for() -> None:
    _keeps_all([*texts(), *_OTHERS])


@_QUICK
@given(held=_MATCHING)
def test_what_patterns_match(held: Sequence[str]) -> None:
    _keeps_all([*held, *_OTHERS])


def _quoted(text: str) -> str:
    return (
        '"'
        + "".join(
            chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}"
            for byte in text.encode()
        )
        + '"'
    )


@pytest.fixture(scope="module")
def printing(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A program whose kernel prints lines, and the lines."""
    words = [text.replace("\0", "") for text in (*texts(), *_OTHERS) if text.strip("\0")]
    lines = ["|".join(words[at : at + 40]) for at in range(0, len(words), 40)]
    prints = "\n".join(f"gpu.printf {_quoted(line.replace('%', '%%') + chr(10))}" for line in lines)
    comment = "// , !dbg !5 asm sideeffect call void @f( addrspace(3)"
    path = tmp_path_factory.mktemp("strings") / "printing.mlir"
    path.write_text(f"""
module attributes {{gpu.container_module}} {{
gpu.module @kernels {{
  memref.global "private" @"; addrspace(3) {{" : memref<1xi32, 1> = dense<7>
  func.func private @"call void @x(, !dbg !1 addrspace(3)"(%a: i32) -> i32
      attributes {{no_inline}} {{
    %c0 = arith.constant 0 : index
    %g = memref.get_global @"; addrspace(3) {{" : memref<1xi32, 1>
    %b = memref.load %g[%c0] : memref<1xi32, 1>
    %c = llvm.inline_asm has_side_effects {_quoted("add.s32 $0, $1, 35; " + comment)}, "=r,r" %b
      : (i32) -> i32
    %d = arith.addi %a, %c : i32
    return %d : i32
  }}
  gpu.func @k() kernel {{
    {prints}
    %zero = arith.constant 0 : i32
    %r = func.call @"call void @x(, !dbg !1 addrspace(3)"(%zero) : (i32) -> i32
    gpu.printf "%d\\0A", %r : i32
    gpu.return
  }}
}}
func.func @main() {{
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}}
}}
""")
    return path, [*lines, "42"]


@pytest.mark.parametrize(
    "words", [("-O0", "-g"), ("-O2",), ("-O2", "--check=memory", "--check=race")]
)
def test_prints_what_it_says(
    printing: tuple[Path, list[str]], words: tuple[str, ...], tmp_path: Path
) -> None:
    path, lines = printing
    assert hirc([str(path), *words, "--offload-arch=cpu", "-o", str(tmp_path / "a")]) == 0
    ran = subprocess.run([tmp_path / "a"], capture_output=True, check=True, timeout=60)
    assert ran.stdout.decode() == "\n".join(lines) + "\n"


def test_device_code_has_what_the_program_says(
    printing: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path, lines = printing
    output = tmp_path / "a.ll"
    words = ["-g", "--offload-arch=sm_90", "--emit=device-llvm", "-o", str(output)]
    assert hirc([str(path), *words]) == 0
    module = LlvmModule(output.read_text(), device_machine(CPU.chip, 0), name="device")
    ir = IrText.of(module.text())
    found = {ir.strings.text(held) for held in re.findall(r'"¶\d+"', ir.code)}
    assert found.issuperset(line.replace("%", "%%") + "\n\0" for line in lines[:-1])

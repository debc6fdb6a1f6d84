"""Headers and files for pkg-config of libraries, as compilers read them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hirc.compiler.object_symbols import object_symbols, versioned_symbols
from hirc.tools.hirc import main as run_hirc
from support.driver import PROGRAM

# A name that is none of C's, names that are equal in C, and the end of a comment in one.
_PROGRAMS = """
"hir.program"() ({
^bb0(%x: memref<?xf32>, %y: memref<?xf32>):
  %z = "hir.binary"(%x, %y) {kind = "add"} : (memref<?xf32>, memref<?xf32>) -> memref<?xf32>
  "hir.output"(%z) {name = "*/z"} : (memref<?xf32>) -> ()
}) {sym_name = "net.add", inputs = [{name = "a.b", sizes = ["n"]}, {name = "a-b", sizes = ["n"]}],
    function_type = (memref<?xf32>, memref<?xf32>) -> memref<?xf32>} : () -> ()
"""
_CALL = """
#include "first.h"
#include "second.h"
int main(void) {
  float a[2] = {1, 2}, b[2] = {3, 4};
  int64_t n = 2, sizes, strides;
  DLTensor x = {a, {1, 0}, 1, {2, 32, 1}, &n, 0, 0}, y = {b, {1, 0}, 1, {2, 32, 1}, &n, 0, 0};
  DLTensor z = {0, {1, 0}, 1, {2, 32, 1}, &sizes, &strides, 0};
  const DLTensor *inputs[hirc_net_add_inputs] = {0};
  inputs[hirc_net_add_input_a_b] = &x;
  inputs[hirc_net_add_input_1] = &y;
  DLTensor *outputs[] = {&z};
  if (hirc_program_net_add(inputs, outputs, 0) != 0 || hirc_synchronize(0) != 0)
    return HIRC_FAILED;
  float last = ((float *)z.data)[1];
  return hirc_free_output(z.data, 0) || last != 6;
}
"""


def test_headers_declare_programs_of_any_name(tmp_path: Path) -> None:
    source, library = tmp_path / "net.mlir", tmp_path / "libfirst.so"
    source.write_text(_PROGRAMS)
    flags = ["--emit=shared", "--offload-arch=cpu", "--emit-header", "--emit-pkg-config"]
    assert run_hirc([str(source), "-o", str(library), *flags]) == 0
    # Two headers in one file of C.
    text = (tmp_path / "first.h").read_text().replace("FIRST_H", "SECOND_H")
    (tmp_path / "second.h").write_text(text.replace("net_add", "net_more"))
    (tmp_path / "call.c").write_text(_CALL)
    found = subprocess.run(
        ["pkg-config", "--cflags", "--libs", tmp_path / "first.pc"],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout.split()  # fmt: skip
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", *found, f"-Wl,-rpath,{tmp_path}"]
    command = ["clang-22", tmp_path / "call.c", *flags, "-o", tmp_path / "call"]
    subprocess.run(command, check=True, timeout=60)
    assert subprocess.run([tmp_path / "call"], check=False, timeout=60).returncode == 0


def _sum(name: str, factor: int, inputs: tuple[str, ...] = ("x",)) -> str:
    """A program of a name, as MLIR writes it, whose result is the first input times the factor."""
    taken = ", ".join(
        f'%x{place}: tensor<1xf32> {{hir.name = "{each}"}}' for place, each in enumerate(inputs)
    )
    return f"""
func.func @"{name}"({taken}) -> (tensor<1xf32> {{hir.name = "y"}}) {{
  %e = tensor.empty() : tensor<1xf32>
  %k = arith.constant {factor}.0 : f32
  %f = linalg.fill ins(%k : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %y = linalg.mul ins(%x0, %f : tensor<1xf32>, tensor<1xf32>)
      outs(%e : tensor<1xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}}
"""


# Names as MLIR writes them, and as C has them where they stand together, in this order.
_NAMES = {
    "a-b": "a_b_2",
    "a_b": "a_b",
    "a.b": "a_b_3",
    "int": "int",
    r"a\22b": "a_b_4",
    r"a\5Cn": "a_n",
    r"a\0An": "a_n_2",
    "a??/n": "a___n",
    "/* */ x /*": "______x___",
    "last_error": "last_error",
    "ä": "_",
    "ö": "__2",
}


@pytest.mark.parametrize("standard", ["c99", "c++20"])
def test_programs_whose_names_c_does_not_tell_apart(standard: str, tmp_path: Path) -> None:
    source, library = tmp_path / "net.mlir", tmp_path / "libnet.so"
    source.write_text("".join(_sum(name, place) for place, name in enumerate(_NAMES, start=2)))
    flags = ["--emit=shared", "--offload-arch=cpu", "-O0", "--emit-header"]
    assert run_hirc([str(source), "-o", str(library), *flags]) == 0
    calls = "\n".join(
        f"  if (hirc_{each}_inputs != 1 || hirc_{each}_input_x || hirc_{each}_output_y ||\n"
        f"      hirc_program_{each}(inputs, outputs, 0) || hirc_synchronize(0) ||\n"
        f"      b[0] != {place})\n"
        f"    return {place};"
        for place, each in enumerate(_NAMES.values(), start=2)
    )
    language = "c" if standard.startswith("c9") else "cpp"
    path = tmp_path / f"call.{language}"
    path.write_text(
        f"""#include "net.h"
int main(void) {{
  float a[1] = {{1}}, b[1] = {{0}};
  int64_t n = 1;
  DLTensor x = {{a, {{1, 0}}, 1, {{2, 32, 1}}, &n, 0, 0}};
  DLTensor y = {{b, {{1, 0}}, 1, {{2, 32, 1}}, &n, 0, 0}};
  const DLTensor *inputs[] = {{&x}};
  DLTensor *outputs[] = {{&y}};
{calls}
  return 0;
}}
"""
    )
    flags = [f"-std={standard}", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}"]
    linked = [str(library), f"-Wl,-rpath,{tmp_path}", "-o", str(tmp_path / "call")]
    subprocess.run(["clang-22", str(path), *flags, *linked], check=True, timeout=60)
    assert subprocess.run([tmp_path / "call"], check=False, timeout=60).returncode == 0


def test_places_whose_names_are_another_programs(tmp_path: Path) -> None:
    """`x_inputs` of `a`, and the count of `a_input_x`; numbers for names, where a name is one."""
    source, library = tmp_path / "net.mlir", tmp_path / "libnet.so"
    programs = [_sum("a", 2, ("x_inputs", "x")), _sum("a_input_x", 3)]
    source.write_text("".join([*programs, _sum("main", 4, ("2", "a-b", "a_b"))]))
    flags = ["--emit=shared", "--offload-arch=cpu", "-O0"]
    for name in ("a-b", "a_b"):
        header = f"--emit-header={tmp_path / name}.h"
        assert run_hirc([str(source), "-o", str(library), *flags, header]) == 0
    text = (tmp_path / "a-b.h").read_text()
    for line in (
        *("hirc_a_input_0 = 0", "hirc_a_input_x = 1", "hirc_a_inputs = 2"),
        *("hirc_a_input_x_input_x = 0", "hirc_a_input_x_inputs = 1"),
        *("hirc_main_input_2 = 0", "hirc_main_input_a_b = 1", "hirc_main_input_2_2 = 2"),
    ):
        assert f"  {line}" in text
    # Both headers are read: a name of one file is not taken for that of the other.
    guards = {each.read_text().splitlines()[1] for each in tmp_path.glob("*.h")}
    assert len(guards) == 2
    check = ["clang-22", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c"]
    subprocess.run([*check, tmp_path / "a-b.h"], check=True, timeout=60)


@pytest.mark.parametrize("flags", [["--emit=exe", "--emit-header"], ["--emit-pkg-config=a.pc"]])
def test_only_libraries_have_headers(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "net.mlir"
    source.write_text(_PROGRAMS)
    assert run_hirc([str(source), "--offload-arch=cpu", *flags]) == 1
    assert "goes with" in capsys.readouterr().err


# What a library exports for its callers, besides programs.
_EXPORTS = {
    *("hirc_last_error", "hirc_programs", "hirc_devices", "hirc_synchronize", "hirc_leave"),
    *("hirc_free_output", "hirc_own_output", "hirc_release_output", "hirc_manage_output"),
    *("hirc_graph_counts", "hirc_call_from_python"),
}


@pytest.mark.parametrize("text", [_PROGRAMS, PROGRAM], ids=["programs", "kernels"])
def test_a_library_with_programs_exports_what_its_callers_need(tmp_path: Path, text: str) -> None:
    """And one of kernels alone nothing of it, whether hirc links it or somebody else does."""
    source = tmp_path / "unit.mlir"
    source.write_text(text)
    built = {emit: tmp_path / f"unit.{emit}" for emit in ("shared", "object")}
    for emit, path in built.items():
        flags = [f"--emit={emit}", "--offload-arch=cpu"]
        assert run_hirc([str(source), "-o", str(path), *flags]) == 0
    expected = _EXPORTS if text is _PROGRAMS else set[str]()
    linked = {symbol.name for symbol in versioned_symbols(built["shared"].read_bytes())}
    assert linked & _EXPORTS == expected
    symbols = list(object_symbols(built["object"].read_bytes()))
    visible = {each.name for each in symbols if each.is_defined and not each.is_hidden}
    # Of several units they are one.
    weak = {each.name for each in symbols if each.is_weak}
    assert visible & _EXPORTS == expected
    assert expected <= weak

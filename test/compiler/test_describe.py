"""hirc --describe: what files say of themselves."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from hirc.compiler.describe import describe
from support.driver import ARCH, PROGRAM, Hirc, write

_DOUBLED = """\
func.func @doubled(%x: tensor<?x4xf32> {hir.name = "x"}) -> (tensor<?x4xf32> {hir.name = "y"}) {
  %y = arith.addf %x, %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
"""


@pytest.fixture
def doubled(tmp_path: Path) -> Path:
    return write(tmp_path, "lib.mlir", _DOUBLED)


def test_a_library(hirc: Hirc, doubled: Path, tmp_path: Path) -> None:
    output = tmp_path / "lib.so"
    hirc.succeeds(doubled, ARCH, "--emit=shared", "--fast-math", "-o", output)
    lines = hirc.succeeds("--describe", output).output.splitlines()
    assert lines[0] == f"{output}: library, {output.stat().st_size:,} bytes"
    assert any(line.startswith("  needs libm.so.6, libc.so.6") for line in lines)
    assert any(line.startswith("  machine code for sm_90: ") for line in lines)
    assert f"{doubled}: -O2 --fast-math for sm_90" in lines
    at = lines.index("  program doubled")
    assert lines[at + 1 : at + 3] == ["    input x: ?x4xf32", "    output y: ?x4xf32"]


@pytest.mark.parametrize(
    ("emit", "kind"), [("object", "object"), ("bitcode", "LLVM bitcode"), ("llvm", "LLVM IR")]
)
def test_what_a_link_is_to_finish(
    emit: str, kind: str, hirc: Hirc, doubled: Path, tmp_path: Path
) -> None:
    output = tmp_path / {"object": "a.o", "bitcode": "a.bc", "llvm": "a.ll"}[emit]
    hirc.succeeds(doubled, ARCH, f"--emit={emit}", "-o", output)
    found = json.loads(hirc.succeeds("--describe", "--json", output).output)
    assert found["kind"] == kind
    assert [(image["arch"], image["kind"]) for image in found["images"]] == [("sm_90", "bitcode")]
    (unit,) = found["units"]
    assert unit["chips"] == ["sm_90"]
    assert unit["programs"] == [
        {"name": "doubled", "inputs": {"x": "?x4xf32"}, "outputs": {"y": "?x4xf32"}}
    ]


def test_units_and_the_cpu_device(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    """Stripped as a package is, a file still says it."""
    output = tmp_path / "prog"
    other = write(tmp_path, "other.mlir", PROGRAM.replace("@main", "@other"))
    main = write(tmp_path, "main.mlir", PROGRAM)
    hirc.succeeds(main, other, "--offload-arch=cpu", "-O1", "-o", output)
    subprocess.run(["strip", output], check=True)
    found = describe(output)
    assert found.kind == "executable"
    assert not found.images
    assert found.cpu_kernels == 2
    assert [(unit["source"], unit["options"]) for unit in found.units] == [
        (str(main), ["-O1"]),
        (str(other), ["-O1"]),
    ]
    assert "  code for the CPU device: 2 kernels\n" in found.text()


def test_weights(hirc: Hirc, tmp_path: Path) -> None:
    text = """\
func.func @scaled(%x: tensor<4xf32> {hir.name = "x"}, %w: tensor<4xf32> {hirc.weight = "w"})
    -> tensor<4xf32> {
  %y = arith.mulf %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
    source, output = write(tmp_path, "scaled.mlir", text), tmp_path / "scaled.o"
    hirc.succeeds(source, ARCH, "--emit=object", "-o", output)
    lines = describe(output).text().splitlines()
    assert "  weight w: F32 [4]" in lines
    assert "  values of weights: scaled.safetensors" in lines


def test_files_of_others(hirc: Hirc, clang: Path, tmp_path: Path) -> None:
    output = tmp_path / "a.o"
    subprocess.run([clang, "-c", write(tmp_path, "a.c", "int a;"), "-o", output], check=True)
    assert "no description: it was made by another compiler" in describe(output).text()
    damaged = write(tmp_path, "damaged.so", "")
    damaged.write_bytes(output.read_bytes()[:70])
    for name, said in [
        (write(tmp_path, "text", "text"), "is no executable, library, object or bitcode file"),
        (damaged, "is damaged"),
        (write(tmp_path, "a.ll", "define"), "cannot be read as LLVM IR"),
        (tmp_path / "nowhere", "cannot read"),
    ]:
        assert said in hirc.fails("--describe", name)
    assert "--describe takes files" in hirc.fails("--describe")
    assert "--json goes with --describe" in hirc.fails(output, "--json")

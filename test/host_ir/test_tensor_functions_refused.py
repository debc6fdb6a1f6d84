"""Functions on tensors that no program can hold, and programs of them that cannot go on."""

from __future__ import annotations

import io
import subprocess
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from host_ir.libraries import library

from hirc.compiler.errors import InputError
from hirc.tools.hirc import main as run_hirc


def _nested_loops(depth: int) -> str:
    """Loops that each carry a tensor into the next, which is %e at the end."""
    lines = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index"]
    carried = "%x"
    for level in range(depth):
        result = f"%r{level}" if level else "%e"
        lines.append(
            f"{result} = scf.for %i{level} = %c0 to %n step %c1 iter_args(%a{level} = {carried}) "
            "-> tensor<4xf32> {"
        )
        carried = f"%a{level}"
    lines.append(f"%s = arith.addf {carried}, {carried} : tensor<4xf32>")
    for level in reversed(range(depth)):
        inner = f"%r{level + 1}" if level + 1 < depth else "%s"
        lines += [f"scf.yield {inner} : tensor<4xf32>", "}"]
    return "\n".join(lines)


REFUSED = {
    "index elements": ("%x: tensor<3xindex>", "", "tensor<3xindex>, whose elements buffers cannot"),
    "four bits": ("%x: tensor<3xi4>", "", "tensor<3xi4>, whose elements buffers cannot hold"),
    "open rank": ("%x: tensor<*xf32>", "", "of open rank: give it a rank"),
    "carried scalar of a while": (
        "%x: tensor<4xf32>, %v: f32",
        """%s = scf.while (%p = %v) : (f32) -> f32 {
            %c = arith.cmpf olt, %p, %v : f32
            scf.condition(%c) %p : f32
          } do {
          ^bb0(%p: f32):
            %q = arith.mulf %p, %p : f32
            scf.yield %q : f32
          }
          %e = tensor.splat %s : tensor<4xf32>""",
        "carry a scalar as a tensor without dims",
    ),
    "nested loops": (
        "%x: tensor<4xf32>, %n: index",
        _nested_loops(50),
        "loops that carry tensors are nested more than 16 deep: make one loop of several",
    ),
    "carried scalar": (
        "%x: tensor<4xf32>, %n: index, %v: f32",
        """%c1 = arith.constant 1 : index
          %s = scf.for %i = %c1 to %n step %c1 iter_args(%p = %v) -> f32 {
            %q = arith.mulf %p, %p : f32
            scf.yield %q : f32
          }
          %e = tensor.splat %s : tensor<4xf32>""",
        "carry a scalar as a tensor without dims",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_program_can_hold_is_named(name: str, tmp_path: Path) -> None:
    arguments, body, message = REFUSED[name]
    returned = "%e : tensor<4xf32>" if "%e =" in body else ""
    kind = "-> tensor<4xf32> " if returned else ""
    source = tmp_path / "bad.mlir"
    source.write_text(f"func.func @f({arguments}) {kind}{{\n{body}\nreturn {returned}\n}}\n")
    errors = io.StringIO()
    with redirect_stderr(errors):
        assert (
            run_hirc(
                [str(source), "-o", str(tmp_path / "bad.so"), "--emit=shared", "--offload-arch=cpu"]
            )
            == 1
        )
    assert message in errors.getvalue()
    assert str(source) in errors.getvalue()
    assert "Traceback" not in errors.getvalue()


def test_a_command_that_cannot_print_fails(tmp_path: Path) -> None:
    source, command = tmp_path / "one.mlir", tmp_path / "one"
    source.write_text(
        """func.func @main(%v: f32) -> tensor<4xf32> {
          %r = tensor.splat %v : tensor<4xf32>
          return %r : tensor<4xf32>
        }"""
    )
    assert run_hirc([str(source), "-o", str(command), "--offload-arch=cpu"]) == 0
    for word in ("--input=1", "--help"):
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                [str(command), word], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert (done.returncode, "cannot write to the standard output" in done.stderr) == (1, True)


def test_words_are_no_numbers_and_no_streams() -> None:
    text = """func.func @main(%v: f32) -> tensor<4xf32> {
      %r = tensor.splat %v : tensor<4xf32>
      return %r : tensor<4xf32>
    }"""
    with pytest.raises(InputError, match="'1' is no f32"):
        library(text).main("1")
    for stream in ("x", -1, 1 << 40, 1 << 70, -(1 << 70), True, 0.0):
        with pytest.raises(InputError, match="which is no CUDA stream"):
            library(text).main(1.0, stream=stream)

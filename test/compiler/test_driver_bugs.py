"""What is told of hirc's own bugs, and of programs that do not end."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import ClassVar

import pytest

from hirc.compiler import unit
from hirc.compiler.errors import InternalError, ToolchainError
from hirc.compiler.llvm_ir import LlvmModule, host_machine
from hirc.compiler.process import Runner
from hirc.dialects.mlir import ir
from hirc.dialects.records import dataclass
from hirc.pipelines.pass_base import Pass
from hirc.pipelines.pipeline import Stage
from support.driver import ARCH, PROGRAM, Hirc, write


@dataclass(frozen=True)
class _Break(Pass):
    """Leaves a call of a function that is not there."""

    name: ClassVar[str] = "break"

    def run(self, op: ir.Operation) -> None:
        with op.location, ir.InsertionPoint.at_block_begin(op.regions[0].blocks[0]):
            callee: ir.Attribute = ir.FlatSymbolRefAttr.get("nowhere")
            ir.Operation.create("func.call", attributes={"callee": callee})


@dataclass(frozen=True)
class _Silent(Pass):
    """Fails without a message."""

    name: ClassVar[str] = "silent"

    def run(self, op: ir.Operation) -> None:
        from hirc.pipelines.pass_base import PassFailure

        raise PassFailure


@pytest.mark.parametrize(
    ("broken", "flags", "message"),
    [
        (_Break, ["--verify-each"], "error: pass 'break' made invalid IR: "),
        (_Break, [], "error: one of the passes made invalid IR: "),
        (_Silent, [], "error: pass 'silent' failed and said nothing"),
    ],
)
def test_a_pass_of_ours_that_is_wrong(
    hirc: Hirc,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    broken: type[Pass],
    flags: list[str],
    message: str,
) -> None:
    (tmp_path / "reports").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "reports"))
    monkeypatch.setattr("hirc.pipelines.pass_base._registry", {broken.name: broken})
    stages = [Stage("kernels", broken.name)]

    def only_that(*_: object) -> list[Stage]:
        return stages

    monkeypatch.setattr(unit, "stages_for", only_that)
    source = write(tmp_path, "prog.mlir", PROGRAM)
    errors = hirc.fails(source, ARCH, *flags, "--emit=ptx", "-o", tmp_path / "out", status=70)
    assert message in errors
    assert ("--verify-each names the pass" in errors) == ("one of the passes" in message)
    assert "stage 'kernels'" in errors
    assert "hirc: to report: " in errors
    (report,) = (tmp_path / "reports").iterdir()
    assert (report / "0-prog.mlir").read_text() == PROGRAM
    assert "Traceback" in (report / "report.txt").read_text()
    assert not (tmp_path / "out").exists()


def test_stages_that_are_verified_together_are_named(
    hirc: Hirc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("hirc.pipelines.pass_base._registry", {_Break.name: _Break})

    def stages(*_: object) -> list[Stage]:
        return [
            Stage("first", ""),
            Stage("second", _Break.name, passing=True),
            Stage("third", "canonicalize"),
            Stage("fourth", "cse"),
        ]

    monkeypatch.setattr(unit, "stages_for", stages)
    source = write(tmp_path, "prog.mlir", PROGRAM)
    errors = hirc.fails(source, ARCH, "--emit=ptx", "-o", tmp_path / "out", status=70)
    assert "error: one of the passes made invalid IR: " in errors
    assert "stage 'second' or 'third'" in errors


def test_ir_that_llvm_refuses() -> None:
    machine = host_machine(2)
    with pytest.raises(InternalError, match="LLVM 22 refuses the IR of broken: ") as info:
        LlvmModule("define i32 @f() { ret i32 nonsense }", machine, name="broken")
    assert "--save-temps" in (info.value.hint or "")
    function = "define void @f() {\n  ret void\n}\n"
    first = LlvmModule(function, machine, name="first")
    with pytest.raises(InternalError, match=r"linking IR failed: .*symbol multiply defined"):
        first.link_module(LlvmModule(function, machine, name="second"))
    wrong = LlvmModule("@llvm.used = appending global [1 x i8] zeroinitializer", machine, name="w")
    with pytest.raises(InternalError, match="LLVM's verifier refuses the IR of w: "):
        wrong.verify()


def test_a_module_may_be_part_of_a_reference_cycle() -> None:
    """As in the traceback of an error that somebody keeps."""
    module = LlvmModule("define void @f() {\n  ret void\n}\n", host_machine(2), name="cycle")
    cycle: list[object] = [module]
    cycle.append(cycle)
    del module, cycle
    gc.collect()


def test_a_program_that_does_not_end() -> None:
    with pytest.raises(ToolchainError, match="sleep did not finish in 0 seconds") as info:
        Runner().run(["sleep", "60"], timeout=0.1)
    assert info.value.hint == "run the command printed by -### by hand"


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(ToolchainError, match="cannot run /nowhere/tool: No such file") as info:
        Runner().run(["/nowhere/tool"])
    assert info.value.hint == "see `hirc --doctor`"


def test_commands_are_printed_as_a_shell_takes_them() -> None:
    lines: list[str] = []
    assert Runner(verbose=True, log=lines.append).run(["echo", "a b", "$c"]).output == "a b $c\n"
    assert Runner(dry_run=True, log=lines.append).run(["/nowhere/tool", "x"]).status == 0
    assert lines == [" echo 'a b' '$c'", " /nowhere/tool x"]

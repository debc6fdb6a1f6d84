"""Targets, and the command line as options."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.compiler.errors import InputError
from hirc.compiler.options import Emit
from hirc.compiler.target import CHIPS, Target, shared_memory_limit
from hirc.tools.hirc_arguments import Action, parse_arguments


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_90a", "sm_100a", "sm_100f", "sm_121f"])
def test_target_spellings(arch: str) -> None:
    assert Target.parse(arch).arch == arch


@pytest.mark.parametrize(
    "arch", ["", "sm_70", "sm_91", "sm_80a", "sm_90f", "sm90", "SM_90", "sm_90ab", "compute_91"]
)
def test_wrong_target_spellings(arch: str) -> None:
    with pytest.raises(InputError, match=f"unknown offload arch '{arch}'") as info:
        Target.parse(arch)
    assert "sm_90" in (info.value.hint or "")


def test_target_facts() -> None:
    assert Target.parse("sm_90a").capability == 90
    assert Target.parse("sm_90a").is_exact
    assert not Target.parse("sm_100f").is_exact
    assert shared_memory_limit(Target.parse("sm_90a")) == 232448
    for chip in CHIPS:
        assert shared_memory_limit(Target.parse(f"sm_{chip}")) >= 65536


def test_inputs_are_sorted_from_link_inputs_in_order() -> None:
    words = [
        "a.mlir",
        "x.o",
        "-lfoo",
        "b.mlirbc",
        "-L",
        "dir",
        "y.a",
        "-Lother",
        "-l",
        "bar",
        "z.bc",
    ]
    options = parse_arguments(words).options
    assert options.inputs == ("a.mlir", "b.mlirbc")
    assert options.link_inputs == ("x.o", "-lfoo", "-Ldir", "y.a", "-Lother", "-lbar", "z.bc")


def test_options() -> None:
    words = [
        "-",
        "-o",
        "out",
        "--emit=ptx",
        "--offload-arch=sm_90,sm_80",
        "--offload-arch",
        "sm_90",
    ]
    words += ["-O3", "-g", "--fast-math", "--ftz", "--device-lib=a.bc", "--device-lib=b.bc"]
    words += ["--entry=start", "--kernel-bare-pointers", "--save-temps", "--clang=c", "-v"]
    request = parse_arguments(words)
    options = request.options
    assert request.action is Action.COMPILE
    assert options.inputs == ("-",)
    assert options.output == "out"
    assert options.emit is Emit.PTX
    assert [target.arch for target in options.targets] == ["sm_90", "sm_80"]
    assert options.opt_level == 3
    assert options.debug
    assert options.fast_math
    assert options.flush_denormals
    assert options.device_libraries == (Path("a.bc"), Path("b.bc"))
    assert options.entry == "start"
    assert options.bare_pointers
    assert options.save_temps == Path()
    assert options.clang == Path("c")
    assert options.verbose


def test_defaults() -> None:
    options = parse_arguments(["a.mlir"]).options
    assert options.emit is Emit.EXE
    assert options.opt_level == 2
    assert options.entry == "main"
    assert options.output is None
    assert not options.debug


@pytest.mark.parametrize(
    ("word", "action"),
    [("--doctor", Action.DOCTOR), ("--print-pipeline", Action.PRINT_PIPELINE)],
)
def test_other_actions(word: str, action: Action) -> None:
    assert parse_arguments([word]).action is action


@pytest.mark.parametrize("emit", Emit)
def test_emit_kinds(emit: Emit) -> None:
    assert parse_arguments([f"--emit={emit}"]).options.emit is emit
    assert emit.is_linked == (emit in (Emit.EXE, Emit.SHARED))
    assert emit.suffix.startswith(".") or emit is Emit.EXE

"""hirc --doctor: what is found, what is missing, and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.compiler.checkup import Finding, State, findings
from hirc.compiler.options import Options
from hirc.tools.doctor import print_doctor

PARTS = {"ptxas", "nvlink", "fatbinary", "libdevice", "libcudart_static.a"}


def by_name(options: Options) -> dict[str, Finding]:
    return {finding.name.strip(): finding for finding in findings(options)}


def test_all_is_found_and_a_program_builds(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_doctor(Options(inputs=())) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3].startswith("trial build")
    assert lines[-2].startswith("CPU device")
    assert lines[-2].endswith("compiles, links and runs")
    assert lines[-1] == "everything a build needs is here"
    assert not [line for line in lines if "MISSING" in line]


def test_every_part_is_named_with_its_place() -> None:
    found = by_name(Options(inputs=()))
    assert found.keys() >= PARTS | {"Python", "MLIR bindings", "LLVM", "clang", "CUDA", "cache"}
    for name in PARTS:
        assert Path(found[name].detail).exists()
    assert found["ptxas"].version >= "13."
    assert found["NVIDIA driver"].state is not State.MISSING


def test_a_cpu_device_that_does_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("hirc.compiler.checkup._TRIAL_OUTPUT", "1\n")
    assert print_doctor(Options(inputs=())) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "a program for it ends with status 0" in lines[-2]
    assert lines[-1] == "a build here would fail: CPU device"


def test_without_cuda(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert print_doctor(Options(inputs=(), cuda_path=tmp_path)) == 1
    out = capsys.readouterr().out
    assert f"CUDA at {tmp_path} lacks ptxas" in out
    assert "pip install" in out
    assert "trial build" not in out
    assert out.splitlines()[-1] == "a build here would fail: CUDA"


def test_with_a_ptxas_that_is_too_old(tmp_path: Path) -> None:
    ptxas = tmp_path / "bin" / "ptxas"
    ptxas.parent.mkdir()
    ptxas.write_text("#!/bin/sh\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n")
    ptxas.chmod(0o755)
    finding = by_name(Options(inputs=(), cuda_path=tmp_path))["ptxas"]
    assert finding.state is State.MISSING
    assert finding.version == "12.4.131"
    assert "PTX 9.0 needs 13.0 or newer" in finding.detail


def test_without_clang(tmp_path: Path) -> None:
    found = by_name(Options(inputs=(), clang=tmp_path / "clang"))
    assert found["clang"].state is State.MISSING
    assert "apt-get install clang-22" in found["clang"].hint
    assert found["C library"].state is State.MISSING


def test_rocm_is_named_and_not_needed(tmp_path: Path) -> None:
    finding = by_name(Options(inputs=(), rocm_path=tmp_path))["ROCm device libraries"]
    assert finding.state is State.NOT_NEEDED
    assert f"ROCm at {tmp_path} lacks ocml.bc and ockl.bc" in finding.detail
    for name in ("ocml.bc", "ockl.bc"):
        (tmp_path / name).touch()
    finding = by_name(Options(inputs=(), rocm_path=tmp_path))["ROCm device libraries"]
    assert (finding.state, finding.detail) == (State.FOUND, str(tmp_path))

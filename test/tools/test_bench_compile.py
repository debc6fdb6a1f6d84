"""The build benchmark, measured against an nvcc that does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.tools.bench_compile import main
from support.driver import script


def test_nvcc_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--nvcc", str(tmp_path / "nvcc")]) == 1
    assert f"error: nvcc not found: {tmp_path / 'nvcc'}" in capsys.readouterr().err
    other = script(tmp_path / "nvcc", "echo nothing of the kind")
    assert main(["--nvcc", str(other)]) == 1
    assert f"error: {other} is not nvcc: it prints no version" in capsys.readouterr().err


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nvcc = script(tmp_path / "nvcc", "echo release 13.0, V13.0.88")
    assert main(["--nvcc", str(nvcc), "--runs", "1", "fill"]) == 0
    output = capsys.readouterr().out
    assert "nvcc 13.0.88" in output
    assert "link (clang, ptxas, nvlink, lld)" in output
    (row,) = [line for line in output.splitlines() if line.startswith("fill ")]
    # The stub is faster than any compiler.
    assert float(row.split()[-1]) > 1

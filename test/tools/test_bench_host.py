"""The host benchmark: it builds for a GPU too, runs what needs none, and prints every row."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.tools.bench_host import main


def test_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", "1"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert [row.split()[:2] for row in rows[1:]] == [["shape", "code,"], ["a", "call"]]
    assert all(float(row.split()[-2]) > 0 for row in rows[1:])


def test_programs_for_a_gpu(tmp_path: Path) -> None:
    assert main(["--gpu", "sm_90", "--keep", str(tmp_path), "--build-only"]) == 0
    assert (tmp_path / "launch").exists()

"""The host benchmark: it builds for a GPU too, runs what needs none, and prints every row."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.compiler.target import Target
from hirc.tools.bench_host import build_calls, main


def test_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", "1"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert [row.split()[:2] for row in rows[1:]] == [["shape", "code,"], ["a", "call"]]
    assert all(float(row.split()[-2]) > 0 for row in rows[1:])


def test_programs_for_a_gpu(tmp_path: Path) -> None:
    build_calls(tmp_path, Target.parse("sm_90"))
    for name in ("calls", "chain.ptx", "libcalls.so", "calls.py", "hirc/compiler/loader.py"):
        assert (tmp_path / name).exists(), name


def test_a_chart_of_what_is_no_figures_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "figures.json").write_text("[]")
    words = ["--chart", str(tmp_path / "figures.json"), "-o", str(tmp_path / "chart.png")]
    assert main(words) == 1
    assert "holds no figures of calls.py" in capsys.readouterr().err

"""The CPU device's benchmark: it builds, runs, and prints every row."""

from __future__ import annotations

import pytest

from hirc.tools.bench_cpu_device import main


def test_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", "1", "--threads", "1"]) == 0
    output = capsys.readouterr().out
    rows = [line for line in output.splitlines() if line.startswith("  ") and line.strip()]
    assert [row.split()[0] for row in rows[1:]] == ["10,000", "10,000", "saxpy,", "sums"]
    assert all(float(row.split()[-1]) > 0 for row in rows[-2:])

"""The benchmark of communications: all of it at tiny sizes on the CPU device's team."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hirc.tools.bench_communication import main
from hirc.tools.bench_communication_programs.run import bus_bytes


def test_a_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "figures.json"
    words = ["--arch=cpu", "--devices=2", "--repeat=2", f"--json={figures}", "--bytes", "64", "800"]
    assert main([*words, "--sizes", "16", "8", "8"]) == 0
    report = json.loads(figures.read_text())
    kinds = ["allreduce", "allgather", "reduce-scatter", "broadcast", "all-to-all"]
    assert [(row["kind"], row["bytes"]) for row in report["rows"]] == [
        (kind, size) for kind in kinds for size in (64, 800)
    ]
    for row in report["rows"]:
        crossed = bus_bytes(row["kind"], row["bytes"], 2)
        assert row["bus"] == pytest.approx(crossed / row["seconds"])
    assert [row["name"] for row in report["overlap"]] == [
        "allgather-product",
        "product-reduce-scatter",
    ]
    for row in report["overlap"]:
        assert sorted(row["steps"]) == ["2", "4", "8"]
        times = [row[part] for part in ("communication", "product", "both", "chosen")]
        assert min(*times, *row["steps"].values()) > 0
    assert "of the communication hidden" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("kind", "crossed"), [("allreduce", 150), ("allgather", 75), ("broadcast", 100)]
)
def test_what_crosses_the_links(kind: str, crossed: float) -> None:
    assert bus_bytes(kind, 100, 4) == crossed

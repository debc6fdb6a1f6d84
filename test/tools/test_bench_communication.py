"""The benchmark of communications: all of it at tiny sizes on the CPU device's team."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


class _Plots:
    """A matplotlib that notes what is drawn."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        def note(*given: Any, **_: Any) -> Any:
            return self._note(name, given)

        return note

    def _note(self, name: str, given: tuple[Any, ...]) -> Any:
        self.calls.append((name, given))
        if name == "subplots":
            # One below the other, or one alone.
            return self, ([[self]] * given[0] if given else self)
        if name == "savefig":
            Path(given[0]).write_text("drawn")
        return None

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [given for each, given in self.calls if each == name]


@pytest.fixture
def plots(monkeypatch: pytest.MonkeyPatch) -> _Plots:
    plots = _Plots()
    monkeypatch.setattr("hirc.tools.bench_communication_programs.pictures.pyplot", lambda: plots)
    return plots


def test_a_chart(tmp_path: Path, plots: _Plots) -> None:
    row = {"kind": "allreduce", "bytes": 1 << 20, "bus": 3e11, "torch_bus": 2e11}
    overlap: dict[str, Any] = {"name": "allgather-product", "hidden": 0.75, "torch_fused": 6e-4}
    overlap |= {"communication": 2e-4, "product": 5e-4, "both": 7e-4, "chosen": 5.5e-4}
    report = {"machine": "m", "date": "d", "devices": 2, "rows": [row], "overlap": [overlap]}
    figures, picture = tmp_path / "figures.json", tmp_path / "figures.png"
    figures.write_text(json.dumps(report))
    assert main([f"--chart={figures}", "-o", str(picture)]) == 0
    assert picture.read_text() == "drawn"
    bandwidth, torch, parts = [list(given[1]) for given in plots.of("barh")]
    assert (bandwidth, torch) == ([300.0], [200.0])
    assert parts == pytest.approx([200, 500, 700, 550, 600, 500])
    assert ("allgather-product: microseconds, 75% hidden",) in plots.of("set_xlabel")


def test_a_timeline(tmp_path: Path, plots: _Plots) -> None:
    def event(name: str, category: str, process: int, start: float, length: float) -> str:
        what = {"name": name, "cat": category, "ph": "X", "pid": process, "tid": 7}
        return json.dumps({**what, "ts": start, "dur": length})

    named = {"name": "thread_name", "ph": "M", "pid": 30, "tid": 7, "args": {"name": "stream 0"}}
    lines = [
        json.dumps(named),
        event("parse", "stage", 30, 1, 900),
        event("k", "kernel", 30, 1000, 20),
        event("communication", "communication", 31, 1010, 5),
    ]
    trace, picture = tmp_path / "trace.json", tmp_path / "trace.png"
    trace.write_text("[\n" + ",\n".join(lines) + ",\n")
    assert main([f"--timeline={trace}", "-o", str(picture)]) == 0
    # What the compiler did is left out.
    assert [spans for spans, _ in plots.of("broken_barh") if spans] == [[(0, 20)], [(10, 5)]]
    assert plots.of("set_yticks") == [(range(2), ["process 0, stream 0", "process 1, 7"])]


@pytest.mark.parametrize("option", ["--chart", "--timeline"])
def test_pictures_of_something_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    (tmp_path / "figures.json").write_text("[]")
    words = [f"{option}={tmp_path / 'figures.json'}", "-o", str(tmp_path / "figures.png")]
    assert main(words) == 1
    assert "holds no " in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(words[:1])

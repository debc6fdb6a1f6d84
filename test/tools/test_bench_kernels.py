"""The kernel benchmark: every program is right, and what is measured is judged and reported."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch

from hirc.compiler.errors import ToolchainError
from hirc.tools.bench_kernels import measure
from hirc.tools.bench_kernels.__main__ import main
from hirc.tools.bench_kernels.arrays import differences, inputs_of
from hirc.tools.bench_kernels.catalogue import rows
from hirc.tools.bench_kernels.chart import draw
from hirc.tools.bench_kernels.contraction_space import CONTRACTIONS
from hirc.tools.bench_kernels.counters import CountersError, Kernel, counters
from hirc.tools.bench_kernels.drawn import function_of
from hirc.tools.bench_kernels.process import Child, ChildError, LateError
from hirc.tools.bench_kernels.report import Line, Report, Timing
from hirc.tools.bench_kernels.row import Row
from hirc.tools.bench_kernels.run import main as run
from hirc.tools.bench_kernels.space import HELD_OUT, KINDS, draw_row

_SCALE = 1024
# The least optimized code is built soonest.
_CPU = ["--offload-arch=cpu", "-O0"]
_NARROW_TOO = ("bias_gelu", "layer_norm", "matmul", "row_sum")


def _first_rows() -> list[Row]:
    """A row of each operation, scaled down; of a few also with narrow elements."""
    first: dict[tuple[str, str], Row] = {}
    for row in rows(scale=_SCALE):
        if row.element in ("f32", "f64") or row.operation in _NARROW_TOO:
            first.setdefault((row.operation, row.element), row)
    return list(first.values())


@pytest.fixture
def build(tmp_path: Path, loaded_commands: Path) -> Callable[..., int]:
    """Builds rows in the test's folder. What builds has loaded torch; what runs is on its own."""

    def run_build(*words: str) -> int:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "executable", str(loaded_commands / "python"))
            return main(["build", str(tmp_path), *words, *_CPU])

    return run_build


def test_programs_are_right(tmp_path: Path, build: Callable[..., int]) -> None:
    # All in one run: much of what one takes is to start the processes that compare.
    chosen = [row.name for row in _first_rows()]
    assert build("--rows", ",".join(chosen), f"--scale={_SCALE}", "--dynamic") == 0
    figures = tmp_path / "figures.json"
    run(tmp_path, ["--json", str(figures)])
    lines = json.loads(figures.read_text())["rows"]
    assert {line["row"]["name"] for line in lines} >= set(chosen)
    problems = {line["row"]["name"]: line["problems"] for line in lines if line["problems"]}
    assert problems == {}
    assert all(set(line["seconds"]) == {"static", "dynamic"} for line in lines)


def test_a_row_that_breaks_leaves_the_others(
    tmp_path: Path, build: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--rows", "row_sum_16x16_f32,row_sum_15x15_f32,full_sum*f32", f"--scale={_SCALE}"]
    assert build(*words) == 0
    described = tmp_path / "rows.json"
    description = json.loads(described.read_text())
    broken, missing, _ = description["rows"]
    broken["row"]["inputs"][0]["element"] = "f7"
    missing["programs"]["static"] = {"library": "none.so", "program": "none"}
    described.write_text(json.dumps(description))
    figures = tmp_path / "figures.json"
    assert run(tmp_path, ["--json", str(figures)]) == 1
    first, second, third = json.loads(figures.read_text())["rows"]
    assert first["problems"] == {"static": "ended with status 1: KeyError: 'f7'"}
    assert "none.so" in second["problems"]["static"]
    assert third["problems"] == {}
    assert third["seconds"]["static"]["median"] > 0
    table = capsys.readouterr().out.splitlines()
    assert ["error" in line for line in table[-4:-1]] == [True, True, False]


# In the child, a program of any size that breaks the second time: when it is timed.
_BREAKING = """
import hirc.tools.bench_kernels.child as child

def breaking(runner, program, inputs, out):
    call, calls = made(runner, program, inputs, out), []

    def counted():
        calls.append(call)
        if len(calls) > 1 and program["program"].endswith("_dynamic"):
            raise SystemExit("broken")
        call()

    return counted

made, child._Runner._program = child._Runner._program, breaking
"""


def test_what_breaks_while_it_is_timed_leaves_the_others(
    tmp_path: Path, build: Callable[..., int]
) -> None:
    words = ["--rows=full_sum*f32", f"--scale={_SCALE}", "--dynamic"]
    assert build(*words) == 0
    runner = tmp_path / "run.py"
    runner.write_text(runner.read_text().replace("\nsys.exit", f"{_BREAKING}\nsys.exit"))
    figures = tmp_path / "figures.json"
    assert run(tmp_path, ["--json", str(figures)]) == 1
    (line,) = json.loads(figures.read_text())["rows"]
    assert line["problems"] == {"dynamic": "ended with status 1: broken"}
    assert set(line["seconds"]) == {"static"}


def test_wrong_results_are_found(tmp_path: Path, build: Callable[..., int]) -> None:
    """The program of another row, which sums columns, in the place of the one that sums rows."""
    words = ["--rows", "row_sum_16x16_f32,column_sum_16x16_f32", f"--scale={_SCALE}"]
    assert build(*words) == 0
    described = tmp_path / "rows.json"
    description = json.loads(described.read_text())
    description["rows"][0]["programs"] = description["rows"][1]["programs"]
    described.write_text(json.dumps(description))
    figures = tmp_path / "figures.json"
    assert run(tmp_path, ["--json", str(figures)]) == 1
    first = json.loads(figures.read_text())["rows"][0]
    assert "of 16 elements are wrong: element 0 is " in first["problems"]["static"]
    assert first["seconds"] == {}


def test_drawn_operations_are_right(tmp_path: Path, build: Callable[..., int]) -> None:
    """One of each kind, small."""
    assert build("--held-out", str(len(KINDS)), "--scale=65536") == 0
    figures = tmp_path / "figures.json"
    run(tmp_path, ["--brief", "--json", str(figures)])
    lines = json.loads(figures.read_text())["rows"]
    assert {line["row"]["operation"] for line in lines} == set(KINDS)
    assert {line["row"]["name"]: line["problems"] for line in lines if line["problems"]} == {}


def test_drawn_contractions_are_right(tmp_path: Path, build: Callable[..., int]) -> None:
    """One of each kind, small."""
    words = ("--seed=3", f"--kinds={','.join(CONTRACTIONS)}", f"--scale={2**20}")
    assert build("--held-out", str(len(CONTRACTIONS)), *words) == 0
    figures = tmp_path / "figures.json"
    run(tmp_path, ["--brief", "--json", str(figures)])
    lines = json.loads(figures.read_text())["rows"]
    assert [line["row"]["operation"] for line in lines] == list(CONTRACTIONS)
    assert {line["row"]["name"]: line["problems"] for line in lines if line["problems"]} == {}


def test_draws_of_contractions_hold_what_the_page_names() -> None:
    drawn = [draw_row(HELD_OUT, number, kinds=list(CONTRACTIONS)) for number in range(450)]
    assert not any(row.is_open for row in drawn)
    by_kind = {kind: [row for row in drawn if row.operation == kind] for kind in CONTRACTIONS}
    products, convolutions, attention = by_kind.values()
    assert {row.parameters["op"] for row in products} == {"linear", "product", "scores"}
    after = {row.parameters["after"] for row in products}
    assert after == {"", "bias", "bias_gelu", "residual", "gate"}
    rows = [row.inputs[0].sizes[0] for row in products if len(row.inputs[0].sizes) == 2]
    assert min(rows) < 8
    assert max(rows) > 8192
    kinds = {row.parameters["op"] for row in convolutions}
    assert kinds == {"plain", "grouped", "depthwise", "transposed"}
    assert {len(row.inputs[1].sizes) for row in convolutions} == {3, 4, 5}
    assert all(1e7 <= row.flops <= 1.2e11 for row in convolutions)
    assert any(row.parameters["last"] for row in convolutions)
    assert {row.parameters["op"] for row in attention} == {"prompt", "causal", "token"}
    assert max(row.inputs[1].sizes[2] for row in attention) > 16384
    assert {row.inputs[0].sizes[3] for row in attention} >= {32, 96, 256}


def test_draws_are_the_same_in_every_process_and_hold_what_the_space_names() -> None:
    drawn = [draw_row(HELD_OUT, number) for number in range(600)]
    assert draw_row(HELD_OUT, 7) == drawn[7] != draw_row(HELD_OUT + 1, 7)
    assert len({row.name for row in drawn}) == len(drawn)
    assert {row.element for row in drawn} == {"f64", "f32", "f16", "bf16", "i64", "i32", "i8"}
    sizes = [size for row in drawn for size in row.inputs[0].sizes]
    assert max(sizes) >= 2**18
    assert {len(row.inputs[0].sizes) for row in drawn} == {1, 2, 3, 4, 5}
    assert 0.2 < sum(row.is_open for row in drawn) / len(drawn) < 0.3
    assert any("view" in row.parameters for row in drawn)


def test_wrong_results_of_drawn_operations_are_found() -> None:
    row = next(
        row
        for row in (draw_row(HELD_OUT, number, 4096) for number in range(99))
        if row.operation == "arg"
    )
    inputs = inputs_of(row, "cpu")
    (places,) = function_of(row)(*inputs)
    (right,) = function_of(row)(*[each.double() for each in inputs])
    assert differences(row, inputs, [places], [right]) is None
    assert differences(row, inputs, [(places + 1) % 2], [right]) == "output 0 has other places"
    row = draw_row(HELD_OUT, 1, 4096)
    inputs = inputs_of(row, "cpu")
    (result,) = function_of(row)(*inputs)
    (right,) = function_of(row)(*[each.double() for each in inputs])
    assert differences(row, inputs, [result], [right]) is None
    result.reshape(-1)[3] *= 1.01
    said = differences(row, inputs, [result], [right])
    assert said is not None
    assert "1 of" in said


def test_no_such_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", str(tmp_path), "--rows=nothing"]) == 1
    assert "no row has nothing in its name" in capsys.readouterr().err


def _line(
    name: str, problems: dict[str, str] | None = None, *, flops: int = 0, **seconds: float
) -> Line:
    """A line of a row that moves 100 GB, or computes `flops`."""
    (row,) = rows(name)
    row = Row(
        row.operation,
        row.element,
        row.sizes,
        row.inputs,
        row.outputs,
        bytes=10**11,
        flops=flops,
        share=row.share,
        figure=row.figure,
    )
    timings = {key: Timing(value, value, value, 1) for key, value in seconds.items()}
    return Line(row, timings, problems or {})


def _report(*lines: Line) -> Report:
    """A machine that copies 1000 GB/s."""
    return Report({"chip": "none"}, 10**11, Timing(0.1, 0.1, 0.1, 20), list(lines))


@pytest.mark.parametrize(
    ("line", "shortfalls"),
    [
        (_line("gelu_of*f32", static=0.1, dynamic=0.1, eager=0.2, inductor=0.11), []),
        (_line("gelu_of*f32", static=0.102), []),
        (_line("gelu_of*f32", static=0.103), ["0.97 of a copy, not 0.98"]),
        (_line("softmax_16384*f32", static=0.105), []),
        (_line("softmax_16384*f32", static=0.107), ["0.93 of a copy, not 0.95"]),
        (_line("gelu_of*f32", static=0.101, eager=0.1, inductor=0.099), ["0.98 of the best peer"]),
        (_line("gelu_of*f32", static=0.1, dynamic=0.103), []),
        (_line("gelu_of*f32", static=0.1, dynamic=0.105), ["dynamic: 0.95 of static"]),
        (_line("gelu_of*f32", {"static": "broke"}, dynamic=0.1), ["static: broke"]),
        (_line("gelu_of*f32", {"dynamic": "broke"}, static=0.1), ["dynamic: broke"]),
        (_line("gelu_of*f32", {"eager": "broke"}, static=0.1), []),
        (_line("matmul_4*bf16", flops=10**12, static=0.102, eager=0.1), []),
        (_line("matmul_4*bf16", flops=10**12, static=0.11, eager=0.1), ["0.91 of torch, not 0.98"]),
        # A row without a figure is held to the peers alone.
        (_line("gelu_of*bf16", static=0.2), []),
        (_line("gelu_of*bf16", static=0.2, inductor=0.19), ["0.95 of the best peer"]),
        # A figure reached serves as well: 4250 GB/s.
        (_line("gelu_of*f32", static=100 / 4250), []),
    ],
)
def test_verdicts(line: Line, shortfalls: list[str]) -> None:
    assert _report(line).shortfalls(line) == shortfalls


def test_a_figure_is_reached_where_the_copy_is_faster() -> None:
    line = _line("gelu_of*f32", static=100 / 4250)
    report = _report(line)
    report.copy = Timing(0.02, 0.02, 0.02, 20)
    assert report.shortfalls(line) == []
    line.timings["static"] = Timing(100 / 4240, 0, 0, 20)
    assert report.shortfalls(line) == ["0.85 of a copy, not 0.98"]


def test_a_report_is_written_and_read() -> None:
    lines = [
        _line("gelu_of*bf16", static=0.1, dynamic=0.1, eager=0.2),
        _line("matmul_4*bf16", {"inductor": "broke"}, flops=10**12, static=0.5, eager=1.0),
    ]
    written = json.loads(json.dumps(_report(*lines).to_json()))
    assert written["rows"][0]["rates"] == {"static": 1000, "dynamic": 1000, "eager": 500}
    assert written["rows"][1]["rates"] == {"static": 2, "eager": 1}
    assert (written["rows"][0]["ratio"], written["rows"][0]["share"]) == (2, 1)
    read = Report.from_json(written)
    assert json.loads(json.dumps(read.to_json())) == written
    table = read.table().splitlines()
    assert table[2].split()[1:] == ["1000", "1000", "500.0", "-", "1.000", "2.000", "-", "pass"]
    assert table[3].split()[1:5] == ["2.0", "-", "1.0", "error"]
    assert table[-1] == "2 of 2 rows reach their bar"


class _Clock:
    """A GPU's own clock: calls take what they say."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        clock = self

        class Event:
            def __init__(self, **_: bool) -> None:
                self.time = 0.0

            def record(self) -> None:
                self.time = clock.now

            def elapsed_time(self, end: Event) -> float:
                return 1e3 * (end.time - self.time)

        def nothing(*_: int) -> None:
            pass

        monkeypatch.setattr(torch.cuda, "Event", Event)
        monkeypatch.setattr(torch.cuda, "synchronize", nothing)
        monkeypatch.setattr(torch.cuda, "_sleep", nothing)

    def call(self, seconds: Callable[[], float]) -> Callable[[], None]:
        def run() -> None:
            self.now += seconds()

        return run


@pytest.mark.parametrize(
    ("seconds", "count"), [(1e-5, 200), (1e-3, 100), (0.01, 20), (0.3, 3), (2.0, 1)]
)
def test_how_often_a_call_is_timed(
    monkeypatch: pytest.MonkeyPatch, seconds: float, count: int
) -> None:
    found = measure.timing(_Clock(monkeypatch).call(lambda: seconds), "cuda")
    assert (found.median, found.count) == (pytest.approx(seconds), count)


def _in_turns(calls: dict[str, Callable[[], object]]) -> dict[str, Timing]:
    ready = {name: measure.warmed_up(call, "cuda") for name, call in calls.items()}
    for turn, name in measure.turns(list(ready)):
        ready[name].take_turn(turn, "cuda")
    return {name: contender.timing() for name, contender in ready.items()}


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_chip_that_slows_down_is_as_slow_for_all(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    clock = _Clock(monkeypatch)
    call = clock.call(lambda: 1e-3 * (1 + clock.now))
    found = _in_turns({str(number): call for number in range(count)})
    medians = [timing.median for timing in found.values()]
    # One after the other, the last of two would come out a tenth slower.
    assert max(medians) < 1.03 * min(medians)


@pytest.mark.parametrize("count", [2, 4])
def test_each_comes_after_every_other_one_as_often(count: int) -> None:
    names = [str(number) for number in range(count)]
    turns: dict[int, list[str]] = {}
    for turn, name in measure.turns(names):
        turns.setdefault(turn, []).append(name)
    assert all(sorted(order) == names for order in turns.values())
    neighbours = Counter(pair for order in turns.values() for pair in pairwise(order))
    assert len(neighbours) == count * (count - 1)
    assert len(set(neighbours.values())) == 1


def test_timings_are_medians() -> None:
    found = Timing.of([5.0, *[1.0] * 3, *[2.0] * 5, 3.0, 9.0])
    assert found == Timing(2.0, 1.0, 5.0, 11)


def test_children(tmp_path: Path) -> None:
    log = tmp_path / "log"
    answer = "import sys; input(); print('{\"a\": 1}', flush=True); input(); sys.exit('no room')"
    child = Child([sys.executable, "-c", answer], {}, log)
    assert child.ask({}, 60) == {"a": 1}
    with pytest.raises(ChildError, match=r"^ended with status 1: no room$"):
        child.ask({}, 60)
    child.close()
    child = Child([sys.executable, "-c", "import os; os.kill(os.getpid(), 11)"], {}, log)
    with pytest.raises(ChildError, match=r"^ended by signal 11$"):
        child.receive(60)
    child.close()
    child = Child([sys.executable, "-c", "import time; time.sleep(60)"], {}, log)
    with pytest.raises(LateError, match=r"^no answer in 0\.1 s$"):
        child.receive(0.1)
    child.close()


# Answers like Nsight Compute: for each request the marker and a kernel, a line for each metric.
_NCU = """#!{python}
import json, sys
words = sys.argv[1:]
assert words[-2:] == ["python", "--child"] and "off" in words
log = open(words[words.index("--log-file") + 1], "w")
print("==PROF== Connected", file=log)
titles = ("ID", "Kernel Name", "Block Size", "Grid Size", "Metric Name", "Metric Unit")
print(",".join(f'"{{title}}"' for title in (*titles, "Metric Value")), file=log)
names = words[words.index("--metrics") + 1].split(",")
for number, line in enumerate(sys.stdin):
    row = json.loads(line)["row"]
    for part, kernel in enumerate(("void at::spin_kernel(long)", row)):
        for name in names:
            value = '"12,500"' if name.endswith("sum") else '"37.5"'
            head = f'"{{2 * number + part}}","{{kernel}}","(128, 1, 1)","(9, 1, 1)"'
            print(f'{{head}},"{{name}}","base",{{value}}', file=log)
sys.exit({status})
"""


def test_counters_of_slow_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read() -> list[list[Kernel]]:
        requests = [{"row": "first"}, {"row": "second"}]
        return counters(requests, ["python", "--child"], {}, tmp_path / "log", 60)

    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CountersError, match="there is no ncu"):
        read()
    ncu = tmp_path / "ncu"
    ncu.write_text(_NCU.format(python=sys.executable, status=0))
    ncu.chmod(0o755)
    ((first,), (second,)) = read()
    assert (first.name, second.name) == ("first", "second")
    assert (first.microseconds, first.shares["memory"]) == (12.5, 37.5)
    assert str(first).startswith("    12.5 us  memory 38 %, L2 38 %")
    assert str(first).endswith("first (9, 1, 1) x (128, 1, 1)")
    ncu.write_text(_NCU.format(python=sys.executable, status=3))
    with pytest.raises(CountersError, match=r"^ncu ended with status 3: it says nothing$"):
        read()


def test_rows_far_below_the_best_peer_have_counters() -> None:
    times = {"eager": Timing(0.79, 0.79, 0.79, 3)}
    row = rows(scale=_SCALE)[0]
    slow = Line(row, {**times, "static": Timing(1.0, 1.0, 1.0, 3)})
    fast = Line(row, {**times, "static": Timing(0.98, 0.98, 0.98, 3)})
    found = [Report.is_far_below(line) for line in (slow, fast, Line(row, times))]
    assert found == [True, False, False]


def _second(count: float) -> Timing:
    return Timing(count, count, count, 3)


def test_a_chart_needs_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = tmp_path / "figures.json"
    figures.write_text(json.dumps(_report(_line("gelu_of*bf16", static=0.1)).to_json()))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ToolchainError, match="matplotlib, which is not installed"):
        draw(figures, tmp_path / "figures.png")


def test_a_chart_of_drawn_operations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = {"static": _second(1.0), "dynamic": _second(1.0)}
    lines = [
        Line(replace(draw_row(HELD_OUT, number), bytes=1), {**ours, "eager": _second(ratio)})
        for number, ratio in ((0, 0.5), (15, 3.0), (1, 99.0))
    ]
    figures = tmp_path / "figures.json"
    figures.write_text(json.dumps(Report(lines=lines).to_json()))
    canvas, axes = Mock(), Mock()
    plots = Mock(subplots=Mock(return_value=(canvas, axes)))
    monkeypatch.setattr("hirc.tools.bench_kernels.chart.pyplot", lambda: plots)
    draw(figures, tmp_path / "figures.png")
    assert [call.args for call in axes.scatter.call_args_list] == [
        ([0.5, 3.0], [0, 0]),
        ([32], [1]),
    ]
    assert canvas.savefig.called


def test_a_chart_of_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "figures.json"
    figures.write_text("[]")
    assert main(["chart", str(figures), str(tmp_path / "figures.png")]) == 1
    assert "holds no figures of a run" in capsys.readouterr().err

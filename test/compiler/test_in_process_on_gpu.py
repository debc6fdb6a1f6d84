"""The suite that runs on GPUs in the process: a small part of it, on the CPU device."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch
from host_ir.element_values import DTYPES

import hirc

from .in_process_cases import Group, Opened, groups
from .in_process_on_gpu import check_group, check_groups, print_reports, same_bits
from .in_process_times import print_times, stage_seconds

_PROGRAM = """
"hir.program"() ({
^bb0(%x: memref<?xf32>):
  %y = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "main", inputs = [{name = "x"}],
    function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()
"""


@dataclass
class _Negates:
    """A call that is right where the program negates."""

    wanted: float
    name: str = "negates"

    def give(self, library: hirc.Library, device: str) -> list[torch.Tensor]:
        return [library["main"](torch.ones(3, device=device)).cpu()]

    def wrong(self, outputs: list[torch.Tensor]) -> str | None:
        return None if bool((outputs[0] == self.wanted).all()) else f"it is {outputs[0].tolist()}"


def _group(wanted: float, text: str = _PROGRAM) -> Group:
    return Group("host-ir", "one", 1, lambda: Opened(text, ("-O0",), [_Negates(wanted)]))


@pytest.mark.parametrize("kind", ["catalogue", "host-ir", "products", "schedules"])
def test_a_group_of_each_kind(kind: str) -> None:
    # The least programs that are drawn of a kind.
    chosen = [each for each in groups(1, 100) if each.kind == kind]
    group = min(chosen, key=lambda each: len(each.open().text))
    report = check_group(group, "cpu", makes_executable=kind == "catalogue")
    assert report.wrong == []
    assert report.results == report.libraries > 0
    assert report.executables == (kind == "catalogue")


def test_what_is_drawn() -> None:
    chosen = groups(0, 200)
    assert {each.kind for each in chosen} == {"catalogue", "host-ir", "products", "schedules"}
    assert 200 <= sum(each.count for each in chosen) < 212
    names = [(each.kind, each.name) for each in chosen]
    assert names == [(each.kind, each.name) for each in groups(0, 200)]
    assert names != [(each.kind, each.name) for each in groups(1, 200)]


def test_wrong_results_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [_group(-1.0), _group(5.0), _group(-1.0, "no program")]
    reports, undone = check_groups(chosen, "cpu", jobs=1, seconds=600, words=())
    assert undone == []
    assert print_reports(reports, undone) == 3
    printed = capsys.readouterr().out
    assert "in process: it is [-1.0, -1.0, -1.0]" in printed
    assert "library: it is [-1.0, -1.0, -1.0]" in printed
    assert "InputError" in printed
    assert (
        "in process: 3 programs, 2 results in process, 2 of libraries, 0 executables, 3 wrong"
        in (printed)
    )


def test_what_is_not_begun_in_time_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    reports, undone = check_groups([_group(-1.0)], "cpu", jobs=1, seconds=-1, words=())
    assert print_reports(reports, undone) == 0
    assert "not begun in time: 1 programs" in capsys.readouterr().out


@pytest.mark.parametrize("dtype", dict.fromkeys(DTYPES.values()))
def test_bits_are_compared(dtype: torch.dtype) -> None:
    for shape in ((), (0, 3), (3, 4)):
        one = torch.zeros(shape, dtype=torch.uint8).to(dtype)
        other = one.clone()
        assert same_bits(one.t() if one.dim() == 2 else one, other.t() if one.dim() == 2 else other)
        if one.numel():
            other.view(-1)[-1:].view(torch.uint8)[0] = 1
            assert not same_bits(one, other)
    assert not same_bits(torch.zeros(2, 3), torch.zeros(3, 2))


def _wrong_of(words: Sequence[str]) -> list[str]:
    reports, _ = check_groups([_group(-1.0)] * 2, "cpu", jobs=2, seconds=60, words=words)
    return reports["host-ir"].wrong


def test_processes_that_end_are_wrong() -> None:
    # It knows no such device.
    assert _wrong_of(["--device", "none"]) == ["host-ir one: the process ended with status 2"] * 2


def _event(name: str, began: float, seconds: float, kind: str = "stage", thread: int = 2) -> str:
    times = {"ts": 1e6 * began, "dur": 1e6 * seconds}
    return json.dumps({"name": name, "cat": kind, "pid": 1, "tid": thread, **times}) + ",\n"


def test_times_of_stages() -> None:
    lines = [
        "[\n",
        _event("inner", 1.1, 0.2),
        _event("a pass", 1.1, 0.1, kind="pass"),
        _event("elsewhere", 1.0, 0.4, thread=3),
        _event("outer", 1.0, 0.5),
        _event("inner", 1.6, 0.1),
    ]
    assert stage_seconds(lines, 1, 2) == pytest.approx({"outer": 0.3, "inner": 0.3})


def test_the_table_of_times(capfd: pytest.CaptureFixture[str]) -> None:
    assert print_times("cpu", 1) == 0
    printed = capfd.readouterr().out
    assert "| until a small program is ready, ms | no cache | cache |" in printed
    for name in ("host object", "load", "first call", "ready, the process's first"):
        assert f"| {name} |" in printed

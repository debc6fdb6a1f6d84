"""The survey of torch's operators tells right from wrong, and goes on after a crash."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from hirc.tools.survey_torch import __main__ as command
from hirc.tools.survey_torch import samples, worker


def _told(said: str) -> dict[str, list[str]]:
    """The statuses of each operator's samples, but for their beginnings."""
    found: dict[str, list[str]] = {}
    for line in said.splitlines():
        each = json.loads(line)
        if each["status"] not in ("begun", "ended"):
            found.setdefault(each["sample"].split(" ")[0], []).append(each["status"])
    return found


def _bent(sample: samples.Sample) -> samples.Sample:
    """A sample whose values change: torch is asked twice before the import, which is the third."""
    calls = iter(range(100))

    def bent(x: Tensor) -> Tensor:
        return x.sin() + (next(calls) > 2)

    return replace(sample, name=f"bent {sample.name}", function=bent)


def test_samples_are_told_apart(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawn(name: str, dtype: torch.dtype, count: int, seed: int) -> Iterator[samples.Sample]:
        for sample in samples.samples(name, dtype, count, seed):
            yield sample
            if name == "sin":
                yield _bent(sample)

    monkeypatch.setattr(worker, "samples", drawn)
    worker.work(["sin", "special.airy_ai", "uniform", "arange"], ["float32"], 1, 0)
    assert _told(capsys.readouterr().out) == {
        "special.airy_ai": ["refused"],
        "uniform": ["random"],
        "sin": ["right"],
        "bent": ["wrong"],
        "arange": ["right"],
    }


def test_goes_on_after_a_crash(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sequence[str]] = []

    def told(names: Sequence[str], *_: object) -> Iterator[dict[str, str]]:
        asked.append(names)
        for name in names:
            yield {"sample": f"{name} float32 0", "status": "begun", "said": ""}
            if name == "sin":
                yield {"status": "over", "said": "exit status -6"}
                return
            yield {"sample": f"{name} float32 0", "status": "right", "said": ""}
        yield {"sample": "", "status": "ended", "said": ""}

    monkeypatch.setattr(command, "_told", told)
    monkeypatch.setattr(samples, "operators", lambda: dict.fromkeys(("cos", "sin", "tan"), None))
    assert command.main([]) == 1
    assert asked == [["cos", "sin", "tan"], ["tan"]]
    said = capsys.readouterr().out
    assert "crashed  sin float32 0: exit status -6" in said
    assert "2 samples of   2 operators: right" in said

"""bench_scale: its programs are valid, of the size asked for, and growth is told as an exponent."""

from __future__ import annotations

import pytest

from hirc.compiler.session import Session
from hirc.dialects.mlir import ir
from hirc.pipelines.walking import operations_where
from hirc.tools.bench_scale import Compiled, main
from hirc.tools.bench_scale_programs import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_programs_are_valid_and_grow(kind: str) -> None:
    sizes: list[int] = []
    for count in (60, 120):
        module = ir.Module.parse(KINDS[kind](count), Session().context)
        assert module.operation.verify()
        sizes.append(len(operations_where(module.operation, lambda _: True)))
    if kind != "inputs":
        assert sizes[0] >= 60
    assert 1.5 < sizes[1] / sizes[0] < 2.5


def test_growth_is_an_exponent() -> None:
    few = Compiled(100, 2.0, 200.0, {"parse": 0.5}, 0)
    many = Compiled(1000, 200.0, 2000.0, {"parse": 50.0, "link": 1.0}, 0)
    assert few.row(None).split()[:5] == ["100", "2.0", "200", "-", "-"]
    assert many.row(few).split()[:7] == ["1000", "200.0", "2000", "2.00", "1.00", "parse", "50.0,"]
    assert "failed with status 70" in Compiled(9, 1.0, 1.0, {}, 70).row(few)


def test_unknown_kinds_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["chains"])
    assert "no kind 'chains'; there are: chain, " in capsys.readouterr().err

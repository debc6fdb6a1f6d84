"""Models whose own code ends the process."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.tools.hirc import main as hirc
from hirc.tools.hirc_run import main as hirc_run

_MODEL = """\
import sys, torch
{at_import}
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        {at_creation}
    def forward(self, x):
        {at_call}
        return x + 1
def get_inputs():
    return [torch.zeros(2)]
"""
_PLACES = {"at_import": "", "at_creation": "", "at_call": ""}


@pytest.mark.parametrize(
    ("place", "code", "line", "said"),
    [
        ("at_import", "sys.exit(3)", 2, "SystemExit(3)"),
        ("at_import", "sys.exit()", 2, "SystemExit()"),
        ("at_creation", "sys.exit(0)", 6, "SystemExit(0)"),
        ("at_call", "sys.exit('no more')", 8, "SystemExit('no more')"),
        ("at_call", "raise BaseException('odd')", 8, "BaseException('odd')"),
    ],
)
def test_a_model_that_ends_the_process_is_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    place: str,
    code: str,
    line: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(_MODEL.format(**{**_PLACES, place: code}))
    for tool, words in ((hirc, ["-o", "net"]), (hirc_run, [])):
        assert tool(["net.py:Model", "--offload-arch=cpu", *words]) == 1
        errors = capfd.readouterr().err
        assert f"net.py:{line}:" in errors
        assert f": error: the model ends hirc: {said}\n" in errors
        assert "  in stage 'import'" in errors
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == ["net.py"]

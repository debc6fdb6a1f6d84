"""check_models: networks are built and compared; what goes wrong is said, and a run goes on."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from hirc.tools.check_models import build as build_module
from hirc.tools.check_models import build_time
from hirc.tools.check_models.__main__ import main as build
from hirc.tools.check_models.build import Build, is_built
from hirc.tools.check_models.compare import distance, judged_outputs

_MODEL = """\
import torch
batch_size = 64
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 3)
    def forward(self, x):
        return {body}
def get_inputs():
    return [torch.randn(batch_size, 4)]
def get_init_inputs():
    return [4]
"""


def test_models_of_files(
    tmp_path: Path, loaded_commands: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder, model = tmp_path / "built", tmp_path / "right.py"
    model.write_text(_MODEL.format(body="self.linear(x).relu()"))
    words = ["build", str(folder), "--offload-arch=cpu", "-O0", "--batch=2", "--files", str(model)]
    # What builds has loaded torch; what runs has to do without MLIR.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", str(loaded_commands / "python"))
        assert build([*words, "--timeout=0.01"]) == 1
        assert "not built: right: import: not done after 0.01 s" in capfd.readouterr().err
        # What failed is tried again, what was built is kept.
        assert build(words) == 0
        assert "right: built, import" in capfd.readouterr().out
        assert build(words) == 0
        assert "built, import" not in capfd.readouterr().out
    assert "tensor<2x4xf32>" in (folder / "right.mlir").read_text()
    _check_what_is_built_again(folder, model)

    description = json.loads((folder / "right.json").read_text())
    wrong = {**description, "name": "wrong", "file": "wrong.model.py"}
    (folder / "wrong.json").write_text(json.dumps(wrong))
    (folder / "wrong.model.py").write_text(_MODEL.format(body="self.linear(x) + 1"))
    for end in ("so", "constants.pt"):
        shutil.copy(folder / f"right.{end}", folder / f"wrong.{end}")
    failed = {"name": "failed", "seconds": {}, "error": "import: no"}
    (folder / "failed.json").write_text(json.dumps(failed))
    figures = tmp_path / "figures.json"
    # A name that is None cannot be imported: it needs no MLIR and no LLVM.
    (folder / "sitecustomize.py").write_text(
        "import sys\nsys.modules.update(dict.fromkeys(['torch_mlir', 'llvmlite']))\n"
    )
    ran = subprocess.run(
        [sys.executable, str(folder / "run.py"), "--untimed", f"--json={figures}"],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "3 networks, 2 not right" in ran.stdout, ran.stderr
    assert ran.returncode == 1
    rows = {row["name"]: row for row in json.loads(figures.read_text())}
    assert rows["right"]["right"]
    assert rows["right"]["exact"]
    assert not rows["wrong"]["right"]
    assert rows["wrong"]["error"]["ours"] > 0.01
    assert rows["failed"]["why"] == "not built: import: no"


def _check_what_is_built_again(folder: Path, model: Path) -> None:
    """A network is, by another compiler, with other words, or of another file."""
    known = json.loads((folder / "right.json").read_text())

    def is_kept(words: tuple[str, ...] = tuple(known["words"]), batch: int = 2) -> bool:
        made = Build(folder, words, False, None, batch, (model,), 1)
        return is_built(known, made.asked("right", model))

    assert is_kept()
    assert not is_kept(words=("--offload-arch=cpu",))
    assert not is_kept(batch=3)
    model.write_text(model.read_text() + "#")
    assert not is_kept()
    model.write_text(model.read_text()[:-1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_module, "compiler_digest", lambda: "another")
        assert not is_kept()


def test_distances() -> None:
    nan, inf = math.nan, math.inf
    wanted = torch.tensor([1.0, -4.0, inf, nan])
    assert distance(wanted, wanted) == 0
    assert distance(torch.tensor([2.0, -4.0, inf, nan]), wanted) == 0.25
    for other in ([1.0, -4.0, -inf, nan], [1.0, -4.0, inf, 0.0], [nan, -4.0, inf, nan]):
        assert distance(torch.tensor(other), wanted) == inf
    assert distance(torch.zeros(0, 3), torch.zeros(0, 3)) == 0
    assert distance(torch.tensor([True]), torch.tensor([False])) == 1


def test_nothing_is_right_where_torch_gives_no_numbers() -> None:
    """An error that is infinite bounds none."""
    exact, right = torch.tensor([1.0, 2.0]).double(), torch.tensor([1.0, 2.0])
    broken = torch.tensor([1.0, math.nan])
    assert judged_outputs([right], [right], [exact])["right"]
    assert not judged_outputs([broken], [right], [exact])["right"]
    for ours in (broken, right):
        assert "not finite" in judged_outputs([ours], [broken], [exact])["why"]
    # Where it should be.
    assert judged_outputs([broken], [broken], [broken.double()])["right"]


@pytest.mark.usefixtures("loaded_python")
def test_build_times(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # torch's takes a minute. Who is not known fails, and does not keep others from being measured.
    contenders = dict.fromkeys(("nobody", "hirc"))
    monkeypatch.setattr(build_time, "_CONTENDERS", contenders)
    assert build(["build-time", "--tiny", "--models=mlp"]) == 1
    said = capsys.readouterr()
    assert re.search(r"^mlp +failed +\d+\.\d \(\d+\.\d\)$", said.out, re.MULTILINE), said.err
    assert "mlp: nobody: " in said.err


def test_open_sizes_are_open_in_what_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def see(_model: Any, _inputs: Any, shapes: Any, _arch: str, _folder: Path) -> None:
        given.append(shapes)

    monkeypatch.setattr(build_time, "_CONTENDERS", {"one": see})
    for name in ("mlp", "mlp_open"):
        asked = tmp_path / "asked.json"
        asked.write_text(json.dumps({"name": name, "tiny": True, "dtype": None, "arch": "cpu"}))
        assert build_time.main("one", asked) == 0
    fixed, opened = given
    assert fixed is None
    assert "batch" in str(opened)

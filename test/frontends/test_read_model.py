"""Models on the command line: `file.py:name` and `model.pt2`, and what is wrong with them."""

from __future__ import annotations

import io
import logging
import os
import struct
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from hirc.frontends.torch.read_model import read_model
from hirc.frontends.torch.torch_log import told_by_torch
from hirc.tools.hirc import main

pytestmark = pytest.mark.xdist_group("compile_model")

_FILE = """\
import torch
from torch import nn
from torch.export import Dim


class Scale(nn.Module):
    def __init__(self, shift):
        super().__init__()
        self.shift = shift
        self.drop = nn.Dropout(0.5)

    def forward(self, x, gain=2.0):
        return {"y": self.drop(x).relu() * gain + self.shift}


def get_inputs():
    return [torch.rand(3, 4)]


def get_init_inputs():
    return [1.5]


def add(left, right):
    return left + right


def add_inputs():
    return {"right": torch.rand(2), "left": torch.rand(2)}


def fails(x):
    return x + nothing


class Broken(nn.Module):
    def __init__(self, shift):
        raise ValueError("no way")


def alone(x):
    return x


def alone_inputs():
    return torch.rand(1).item() / 0


def mismatch(x):
    return x @ x


number = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(_FILE)
    return path


def test_an_executable_of_a_class(file: Path) -> None:
    program, result = file.parent / "scale", file.parent / "y.npy"
    words = [f"{file}:Scale", "-o", str(program), "--offload-arch=cpu", "-O0"]
    assert main(words) == 0
    subprocess.run([program, "--input=x=@iota", f"--output=y={result}"], check=True)
    assert np.array_equal(np.load(result), np.arange(12.0).reshape(3, 4) * 2 + 1.5)


def test_inputs_have_the_parameters_names(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"{file}:add", "--stop-after=fusion"]) == 0
    shown = capsys.readouterr().out
    assert shown.index('hir.name = "left"') < shown.index('hir.name = "right"')


def test_a_saved_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(nn.ReLU(), (torch.rand(2),), strict=False), path)
    assert main([str(path), "--emit=ptx", "--offload-arch=sm_90", "-o", "-"]) == 0
    assert "max" in capsys.readouterr().out


_KIND = """
from dataclasses import dataclass
import torch

@dataclass
class Result:
    value: torch.Tensor

torch.export.register_dataclass(Result, serialized_type_name="hirc_kind.Result")
"""
_SAVES = """
import sys, torch
from hirc_kind import Result

class Gives(torch.nn.Module):
    def forward(self, x):
        return Result(x + 1)

torch.export.save(torch.export.export(Gives(), (torch.rand(2),)), sys.argv[1])
"""


def test_a_saved_program_whose_keys_are_tuples(tmp_path: Path) -> None:
    class Edges(nn.Module):
        def forward(self, x: dict[Any, Tensor]) -> dict[Any, Tensor]:
            return {("sum", 1): x["a", "b"] + x["b", "a"]}

    path, inputs = tmp_path / "model.pt2", {("a", "b"): torch.ones(2), ("b", "a"): torch.ones(2)}
    torch.export.save(torch.export.export(Edges(), (inputs,), strict=False), path)
    assert 'hir.name = "sum_1"' in read_model(str(path), "main").text


def test_a_saved_program_with_a_type_that_its_module_registers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, modules = tmp_path / "model.pt2", tmp_path / "modules"
    modules.mkdir()
    (modules / "hirc_kind.py").write_text(_KIND)
    environment = {**os.environ, "PYTHONPATH": str(modules)}
    subprocess.run([sys.executable, "-c", _SAVES, str(path)], check=True, env=environment)
    arguments = [str(path), "--emit=ptx", "--offload-arch=sm_90", "-o", "-"]
    assert main(arguments) == 1
    assert "importing hirc_kind must register this type" in capsys.readouterr().err
    monkeypatch.syspath_prepend(modules)
    assert main(arguments) == 0
    assert "add" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nothing", "net.py defines no nothing\nhint: it defines Scale, Broken\n"),
        ("number", "number is a int, no torch module or function"),
        ("fails", "net.py:33:16: error: torch cannot export the model: name 'nothing' is not"),
        ("Broken", "net.py:38:9: error: Broken cannot be made: ValueError: no way"),
        ("alone", "net.py:46:12: error: alone_inputs() fails: ZeroDivisionError"),
    ],
)
def test_what_is_wrong_is_said(
    name: str, said: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([f"{file}:{name}", "-o", str(file.parent / "out")]) == 1
    assert said in capsys.readouterr().err
    assert not (file.parent / "out").exists()


def test_a_damaged_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """torch prints a traceback of its own for one; hirc says what torch found."""
    path = tmp_path / "model.pt2"
    torch.export.save(torch.export.export(nn.Linear(3, 2), (torch.zeros(2, 3),)), path)
    path.write_bytes(path.read_bytes().replace(b"PK\x03\x04", b"PK\x03\x05", 1))
    capsys.readouterr()
    assert main([str(path), "--emit=mlir", "-o", "-"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"hirc: error: torch cannot load {path}: PytorchStreamReader")
    assert "Traceback" not in said
    assert "hint: it is damaged, or another version of torch wrote it" in said


def test_nothing_that_torch_logs_is_printed(
    tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each part of torch has a logger, and prints what goes wrong with a traceback."""
    # torch's own prints to what was the standard error output when torch was imported.
    handler = logging.StreamHandler(sys.stderr)
    logger = logging.getLogger("torch._subclasses.fake_tensor")
    saved, damaged = io.BytesIO(), tmp_path / "damaged.pt2"
    torch.export.save(torch.export.export(nn.Linear(3, 2), (torch.zeros(2, 3),)), saved)
    sizes = b'"input": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": %d}'
    with ZipFile(saved) as given, ZipFile(damaged, "w") as made:
        for name in given.namelist():
            made.writestr(name, given.read(name).replace(sizes % 3, sizes % 4))
    for model, place in ((damaged, "hirc"), (f"{file}:mismatch", f"{file}:50:12")):
        logger.addHandler(handler)
        try:
            assert main([str(model), "--stop-after=fusion", "-o", "-"]) == 1
        finally:
            logger.removeHandler(handler)
        said = capsys.readouterr().err
        assert said.startswith(
            f"{place}: error: torch cannot export the model: a and b must have same reduction dim"
        )
        assert "Traceback" not in said


def test_a_logged_error_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever logs it: a logger of its own, one that is made meanwhile; not what is asked for."""
    own, handler = logging.getLogger("torch.own"), logging.StreamHandler(sys.stderr)
    own.addHandler(handler)
    own.propagate = False
    own.setLevel(logging.INFO)
    try:
        with told_by_torch() as told:
            warnings.warn("a warning", stacklevel=1)
            own.info("asked for")
            for logger in (own, logging.getLogger("torch.new.one")):
                try:
                    raise ValueError(logger.name)
                except ValueError:
                    logger.exception("not asked for")
            logging.getLogger("theirs").warning("of the user")
        own.error("afterwards")
    finally:
        own.removeHandler(handler)
    assert [str(each) for each in told] == ["torch.own", "torch.new.one"]
    assert "".join(capsys.readouterr()).splitlines() == ["asked for", "afterwards"]


def test_files_that_hold_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "wrong.py").write_text("x = (\n")
    (tmp_path / "wrong.pt2").write_bytes(b"junk")
    # The end of an archive of two disks, which Python's reader raises an error for.
    end = b"PK\x06\x07" + struct.pack("<LQL", 1, 0, 2) + b"PK\x05\x06" + bytes(18)
    (tmp_path / "disks.pt2").write_bytes(bytes(20) + end)
    (tmp_path / "lone.py").write_text("def f(x):\n    return x\n")
    for name, said in (
        ("wrong.py:f", "wrong.py:1:5: error: "),
        ("wrong.pt2", "holds no exported program"),
        ("disks.pt2", "holds no exported program"),
        ("lone.py:f", "what to call f with, "),
        ("lone.py", "lone.py is a Python file: which of its models?"),
        ("none.py:f", "none.py: No such file or directory"),
    ):
        assert main([str(tmp_path / name), "-o", str(tmp_path / "out")]) == 1
        assert said in capsys.readouterr().err

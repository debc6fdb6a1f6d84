"""Tunings: what is searched, what is written, and what builds take of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hirc.tools.tune import Configurations, Search, document, main, tune
from support.driver import Hirc, write

_PROGRAM = """
func.func @main(%x: tensor<64x256xf32> {hir.name = "x"})
    -> (tensor<64x256xf32> {hir.name = "y"}) {
  %empty = tensor.empty() : tensor<64x256xf32>
  %y = linalg.negf ins(%x : tensor<64x256xf32>) outs(%empty : tensor<64x256xf32>)
      -> tensor<64x256xf32>
  return %y : tensor<64x256xf32>
}
"""
_CLASS = "p2^6/16 p2^8/16; in f32 a 1; out f32 a 1; 2^1"
_ASKED = {
    "family": "pointwise",
    "kernel": "flat",
    "width": 2,
    "unroll": 4,
    "threads": 512,
    "pieces": True,
    "layout": "packed",
}


def _file(folder: Path, **values: Any) -> Path:
    """A tuning with one entry, of a configuration with these values."""
    entries = {_CLASS: {"configuration": {**_ASKED, **values}}}
    return write(folder, "tuning.json", json.dumps(document("sm_90a", entries)))


def _kernels(hirc: Hirc, folder: Path, tuning: Path, arch: str = "sm_90") -> str:
    program = write(folder, "prog.mlir", _PROGRAM)
    words = (f"--offload-arch={arch}", f"--tuning={tuning}", "--stop-after=schedules", "-o", "-")
    return hirc.succeeds(program, *words).output


def test_operations_of_a_class_take_its_entry(hirc: Hirc, tmp_path: Path) -> None:
    kernels = _kernels(hirc, tmp_path, _file(tmp_path))
    first = kernels[kernels.index("gpu.func") :].splitlines()[0]
    assert "threads = 512 : i64, unroll = 4 : i64, width = 2 : i64" in first
    assert "hir.tuning" not in kernels


@pytest.mark.parametrize(
    "values",
    [
        {"width": 3},
        {"width": True},
        {"kernel": "row"},
        {"kernel": "single"},
        {"family": "windows"},
        {"warps": 4},
    ],
    ids=str,
)
def test_what_does_not_fit_is_passed_over(
    hirc: Hirc, tmp_path: Path, values: dict[str, Any]
) -> None:
    kernels = _kernels(hirc, tmp_path, _file(tmp_path, **values))
    assert "threads = 512" not in kernels
    assert "threads = 256" in kernels


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is no JSON"),
        ("\udcff", "is no JSON"),
        ("[]", "is no tuning"),
        ("{}", "is of format None, and hirc reads 1"),
        ('{"format": 2}', "is of format 2, and hirc reads 1"),
        ('{"format": 1, "arch": "sm_90"}', "has no 'arch' or no 'entries'"),
        ('{"format": 1, "arch": "sm_90", "entries": {"a": 3}}', "'a' has no configuration"),
        (
            '{"format": 1, "arch": "sm_90", "entries": {"a": {"configuration": {"family": "b"}}}}',
            "'a' has no configuration of transpose",
        ),
        (
            '{"format": 1, "arch": "sm_90", "entries": {"a": {"configuration": '
            '{"family": "pointwise", "width": 1.5}}}}',
            "'width' of 'a' is no number, flag or word",
        ),
        (
            '{"format": 1, "arch": "sm_80", "entries": {}}',
            "was measured on sm_80, and the build is for sm_90",
        ),
    ],
)
def test_a_wrong_file_is_an_error(hirc: Hirc, tmp_path: Path, text: str, message: str) -> None:
    tuning = tmp_path / "tuning.json"
    tuning.write_bytes(text.encode(errors="surrogateescape"))
    program = write(tmp_path, "prog.mlir", _PROGRAM)
    words = ("--offload-arch=sm_90", f"--tuning={tuning}", "--stop-after=schedules", "-o", "-")
    assert message in hirc.fails(program, *words)


def test_there_is_no_such_file(hirc: Hirc, tmp_path: Path) -> None:
    program = write(tmp_path, "prog.mlir", _PROGRAM)
    assert "none.json" in hirc.fails(program, f"--tuning={tmp_path / 'none.json'}", "--emit=ptx")


class _Timed(Search):
    """A search whose programs take what a function says."""

    def classes(self) -> dict[str, list[dict[str, Any]]]:
        return {
            "a": [{"width": width} for width in range(8)],
            "b": [{"width": width} for width in range(3)],
            "c": [{"width": 0}],
        }

    def seconds(self, configurations: Configurations) -> float:
        widths = {name: int(each["width"]) for name, each in configurations.items()}
        # What is faster by less than noise does not count.
        return 1e-6 * (10 - widths.get("a", 0) - 0.01 * widths.get("b", 0))


def test_the_fastest_of_a_class_is_kept(tmp_path: Path) -> None:
    search = _Timed(tmp_path / "prog.mlir", "cpu", (), (), 1, tmp_path)
    entries = tune(search, most=7, seed=1)
    assert entries == {
        "a": {
            "configuration": {"width": 7},
            "seconds": pytest.approx(3e-6),
            "chosen_seconds": pytest.approx(1e-5),
            "tried": 7,
        }
    }
    assert tune(search, most=3, seed=2) == tune(search, most=3, seed=2)


def test_a_program_is_searched_on_this_machine(hirc: Hirc, tmp_path: Path) -> None:
    program, tuning = write(tmp_path, "prog.mlir", _PROGRAM), tmp_path / "tuning.json"
    words = [str(program), "-o", str(tuning), "--offload-arch=cpu", "--most=1", "--repeat=2"]
    assert main([*words, "--schedules=tuned", "-O0", "--", "--input=@iota"]) == 0
    found = json.loads(tuning.read_text())
    assert (found["format"], found["arch"], found["seed"]) == (1, "cpu", 1)
    assert set(found["entries"]) <= {_CLASS}
    # Whatever was the fastest, builds read the file.
    assert "gpu.func" in _kernels(hirc, tmp_path, tuning, "cpu")


def test_what_fails_while_it_is_searched_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, tuning = write(tmp_path, "prog.mlir", "func.func"), tmp_path / "tuning.json"
    assert main([str(program), "-o", str(tuning), "--offload-arch=cpu"]) == 1
    assert "prog.mlir:1" in capsys.readouterr().err
    assert not tuning.exists()

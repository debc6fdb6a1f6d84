"""Commands with weights: executables, hirc-run, the interpreter, and checked programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hirc.tools.hirc import main
from support.program_command import Command, build, run_command
from support.weights import DENSE, VALUES, tensor, write_values

_INPUT = "--input=2x4xf32=@iota"
_OUTPUT = "y: 2x3xf32\n[[142. 248. 354.]\n [214. 336. 458.]]\n"

# A weight of a type that NumPy has not, and one that the program does not read.
_PROGRAM = """\
"hir.program"() ({
^bb0(%w: memref<4xbf16>, %x: memref<4xf32>, %flag: memref<i1>):
  %f = "hir.unary"(%w) {kind = "cast"} : (memref<4xbf16>) -> memref<4xf32>
  %y = "hir.binary"(%x, %f) {kind = "mul"} : (memref<4xf32>, memref<4xf32>) -> memref<4xf32>
  "hir.output"(%y) {name = "y"} : (memref<4xf32>) -> ()
}) {sym_name = "main", inputs = [{weight = "w"}, {name = "x"}, {weight = "flag"}],
    function_type = (memref<4xbf16>, memref<4xf32>, memref<i1>) -> memref<4xf32>} : () -> ()
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Command:
    folder = tmp_path_factory.mktemp("commands")
    given = write_values(folder / "model.safetensors", VALUES)
    options = (f"--weights-from={given}", "--weights=external")
    return Command(build(DENSE, folder / "dense", *options))


def test_a_command_finds_its_weights(command: Command) -> None:
    assert command.succeeds(_INPUT) == _OUTPUT
    assert "--weights=FILE" in command.succeeds("--help")
    lines = command.succeeds(_INPUT, "--repeat=2", "--print").splitlines()
    assert lines == _OUTPUT.splitlines()


def test_a_command_is_told_of_weights(command: Command, tmp_path: Path) -> None:
    other = write_values(tmp_path / "other.safetensors", VALUES | {"fc.bias": np.zeros(3, "<f4")})
    assert command.succeeds(_INPUT, f"--weights={other}") == (
        "y: 2x3xf32\n[[ 42.  48.  54.]\n [114. 136. 158.]]\n"
    )
    none = tmp_path / "none.safetensors"
    assert command.fails(1, _INPUT, f"--weights={none}") == (
        f"weights file {none} cannot be read: No such file or directory"
    )


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.mlir").write_text(_PROGRAM)
    bits = (np.array([0, 1, 2, 3], np.float32).view(np.uint32) >> 16).astype(np.uint16)
    values = {"w": tensor(bits, "BF16"), "flag": np.array(True)}
    write_values(folder / "w.safetensors", values)
    return folder


@pytest.mark.usefixtures("loaded_commands")
@pytest.mark.parametrize("mode", ["--interpret", "--check=memory,race"])
def test_hirc_run_takes_weights(program: Path, mode: str) -> None:
    words = ["program.mlir", "--input=4xf32=2,2,2,2", "--offload-arch=cpu", mode]
    ran = run_command("hirc-run", *words, "--weights=w.safetensors", folder=program)
    assert ran.errors == ""
    assert ran.output == "y: 4xf32\n[0. 2. 4. 6.]\n"
    for option in ("--weights=none", "--weights-from=none"):
        ran = run_command("hirc-run", *words, option, folder=program)
        assert (ran.status, ran.output) == (1, "")
        assert "weights file none" in ran.errors
    ran = run_command("hirc-run", *words, folder=program)
    assert (ran.status, ran.output) == (1, "")
    assert "--weights=FILE" in ran.errors


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        (DENSE, ["--weights=embed"], "--weights=embed needs the values of weight 'fc.weight'"),
        (DENSE, ["--weights-from=none"], "cannot read none"),
        (DENSE, ["--weights-from=prog.mlir"], "weights file prog.mlir is cut off, or no safeten"),
        (
            DENSE,
            ["--weights-from=odd.safetensors"],
            "its header is no header of a safetensors file",
        ),
        (DENSE, ["--weights-from=few.safetensors"], "has no tensor 'fc.weight' (F32 [4, 3])"),
        (DENSE, ["--weights-from=index.json"], "few.safetensors has no tensor 'fc.weight'"),
        (DENSE, ["--weights-from=wrong.json"], "wrong.json is no index of safetensors files"),
        (
            DENSE,
            ["--weights-from=few.safetensors", "--weights=embed", "--emit=llvm"],
            "has no tensor 'fc.weight'",
        ),
        ("func.func @main() {\n  return\n}\n", ["--weights-from=few.safetensors"], "no weights"),
    ],
)
def test_what_is_wrong_when_it_is_built(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    text: str,
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prog.mlir").write_text(text)
    Path("index.json").write_text('{"weight_map": {"fc.weight": "few.safetensors"}}')
    Path("wrong.json").write_text("[]")
    header = b'{"a":{"dtype":"F32","shape":[1e999],"data_offsets":[0,4]}}'
    Path("odd.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    write_values(Path("few.safetensors"), {"fc.bias": VALUES["fc.bias"]})
    before = sorted(tmp_path.iterdir())
    assert main(["prog.mlir", "-o", "prog", "--offload-arch=cpu", *words]) == 1
    assert message in capfd.readouterr().err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("emit", ["exe", "object"])
def test_no_output_without_its_weights(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    emit: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prog.mlir").write_text(DENSE)
    write_values(Path("values.safetensors"), VALUES)
    output = Path("prog.o" if emit == "object" else "prog")
    words = ["--weights-from=values.safetensors", "--weights=external", f"--emit={emit}"]
    for refused in (Path("prog.safetensors"), output):
        refused.mkdir()
        before = sorted(tmp_path.iterdir())
        assert main(["prog.mlir", "-o", str(output), "--offload-arch=cpu", *words]) == 1
        assert f"cannot write {refused}: it is a directory" in capfd.readouterr().err
        assert sorted(tmp_path.iterdir()) == before
        refused.rmdir()


@pytest.mark.parametrize("words", [["--weights="], ["--weights", ""], ["--weights"]])
def test_a_command_without_the_name_of_its_weights(command: Command, words: list[str]) -> None:
    assert command.fails(2, _INPUT, *words) == "--weights needs a value: --weights=..."

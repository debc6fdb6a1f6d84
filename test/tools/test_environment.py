"""The tools with streams that are closed or full, and names and folders of any kind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.driver import ANSWER, CALLER
from support.program_command import ADD

_MODULES = {name: f"hirc.tools.{name}" for name in ("hirc", "hirc_opt", "hirc_run", "hirc_cache")}
_CPU = "--offload-arch=cpu"
_TO_STDOUT = {
    "hirc": ["add.mlir", "--stop-after=fusion", "-o", "-", _CPU],
    "hirc_opt": ["add.mlir"],
}
# A name that is no UTF-8.
_ODD = os.fsdecode(b"odd-\xff.mlir")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "add.mlir").write_text(ADD)
    (tmp_path / _ODD).write_text(ADD)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)


def _run(tool: str, *words: str, redirect: str = "") -> tuple[int, str]:
    """The status and the errors of a tool, started by a shell that redirects its streams."""
    done = subprocess.run(
        ["sh", "-c", f'"$0" "$@" {redirect}', sys.executable, "-m", _MODULES[tool], *words],
        capture_output=True,
        timeout=120,
        check=False,
    )
    errors = done.stderr.decode(errors="replace")
    assert "Traceback" not in errors
    assert "internal error" not in errors
    assert os.listdir("temporary") == []
    return done.returncode, errors


@pytest.mark.parametrize("tool", list(_TO_STDOUT))
@pytest.mark.parametrize(
    ("redirect", "why"),
    [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")],
)
def test_an_output_that_cannot_be_written(tool: str, redirect: str, why: str) -> None:
    status, errors = _run(tool, *_TO_STDOUT[tool], redirect=redirect)
    assert (status, errors) == (1, f"hirc: error: cannot write to standard output: {why}\n")


@pytest.mark.parametrize(
    ("tool", "word", "is_unbuffered"),
    [
        *(("hirc", word, "1") for word in ("--help", "--version", "--doctor", "--print-pipeline")),
        *(("hirc", "--help", ""), ("hirc_opt", "--version", "1"), ("hirc_run", "--help", "1")),
        *(
            ("hirc_cache", word, unbuffered)
            for word in ("list", "stat")
            for unbuffered in ("", "1")
        ),
    ],
)
def test_what_a_tool_says_of_itself_cannot_be_written(
    tool: str, word: str, is_unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", is_unbuffered)
    assert _run(tool, word, redirect=">/dev/full") == (
        1,
        "hirc: error: cannot write to standard output: No space left on device\n",
    )


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        *_TO_STDOUT.items(),
        *(("hirc", [word]) for word in ("--help", "--version", "--doctor", "--print-pipeline")),
        ("hirc_opt", ["--list-passes"]),
        ("hirc_run", ["--help"]),
        *(("hirc_cache", [word]) for word in ("--help", "list", "stat")),
    ],
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_pipe_that_nobody_reads_ends_a_tool_without_a_word(
    tool: str, words: list[str], unbuffered: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", _MODULES[tool], *words],
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


@pytest.mark.parametrize("redirect", ["2>&-", "2>/dev/full", "<&-", "<&- >&- 2>&-"])
def test_errors_that_nobody_can_see(redirect: str) -> None:
    assert _run("hirc_opt", "nowhere.mlir", redirect=redirect)[0] == 1
    # What is written goes where it should, not to the number of a closed stream.
    assert _run("hirc_opt", "add.mlir", "-o", "out.mlir", redirect=redirect)[0] == 0
    assert "gpu.launch" in Path("out.mlir").read_text()


def test_standard_input_that_cannot_be_read() -> None:
    status, errors = _run("hirc_opt", "-", redirect="<&-")
    assert (status, errors) == (
        1,
        "hirc: error: cannot read standard input: Bad file descriptor\n",
    )


def test_names_that_are_not_utf_8() -> None:
    assert _run("hirc_opt", _ODD, "-o", f"out-{_ODD}") == (0, "")
    assert "gpu.launch" in Path(f"out-{_ODD}").read_text()
    inputs = ["--input=@iota", "--input=1", "--input=2"]
    assert _run("hirc_run", _ODD, _CPU, *inputs) == (0, "")
    Path(_ODD).write_text("func.func @main( {")
    for tool, words in (("hirc", ["-o", "out", _CPU]), ("hirc_opt", [])):
        status, errors = _run(tool, _ODD, *words)
        assert (status, errors.partition(":")[2][:12]) == (1, "1:17: error:"), errors


def test_a_pipe_is_read_once() -> None:
    status, errors = _run(
        "hirc_opt", "/dev/fd/3", "-o", "out.mlir", redirect="3<<END\n$(cat add.mlir)\nEND\n"
    )
    assert (status, errors) == (0, "")
    assert "gpu.launch" in Path("out.mlir").read_text()


def test_temporary_files_without_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python falls back on /tmp and on the current folder; none of them here."""
    code = (
        "import sys, tempfile; tempfile.tempdir = '/nowhere'; "
        f"sys.argv[1:] = ['add.mlir', '-o', 'out', '{_CPU}']; "
        "from hirc.tools.hirc import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("hirc: error: cannot make a folder for temporary files: ")
    assert "hint: TMPDIR names where they go" in done.stderr
    assert not Path("out").exists()


@pytest.mark.parametrize("name", ["add.mlir", "./add.mlir", "link", "hard"])
def test_an_output_is_not_an_input(name: str) -> None:
    Path("link").symlink_to("add.mlir")
    Path("hard").hardlink_to("add.mlir")
    for tool, words in (("hirc", [_CPU]), ("hirc_opt", [])):
        status, errors = _run(tool, "add.mlir", *words, "-o", name)
        assert (status, f"{name} is the input add.mlir" in errors) == (1, True), errors
    assert Path("add.mlir").read_text() == ADD


def test_an_output_is_not_a_file_of_the_link(tmp_path: Path) -> None:
    Path("caller.mlir").write_text(CALLER)
    Path("answer.o").write_text(ANSWER)
    status, errors = _run("hirc", "caller.mlir", "answer.o", "-o", "answer.o", _CPU)
    assert (status, "answer.o is the input answer.o" in errors) == (1, True), errors
    assert Path("answer.o").read_text() == ANSWER


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    done = subprocess.run(
        [sys.executable, "-m", _MODULES["hirc_opt"], str(tmp_path / "add.mlir"), "-o", "out"],
        capture_output=True,
        text=True,
        check=False,
    )
    os.chdir(tmp_path)
    assert (done.returncode, done.stderr.startswith("hirc: error: cannot write out: ")) == (1, True)

"""The files that a command writes: whole or not at all, and never one over another."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from support.program_command import Command

_INPUTS = ("--input=x=@iota", "--input=s=1", "--input=n=4")


@pytest.fixture
def here(add: Command, tmp_path: Path) -> Command:
    """The command in a folder of its own."""
    (tmp_path / "add").symlink_to(add.path)
    (tmp_path / "files").mkdir()
    return Command(tmp_path / "add")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("y.npy", "./y.npy"),
        ("y.npy", "files/../y.npy"),
        ("link.npy", "new.npy"),
        ("old.npy", "hard.npy"),
        ("to-files/z.npy", "files/z.npy"),
    ],
)
def test_two_outputs_do_not_go_to_one_file(here: Command, first: str, second: str) -> None:
    folder = here.folder
    (folder / "old.npy").write_bytes(b"old")
    (folder / "hard.npy").hardlink_to(folder / "old.npy")
    (folder / "link.npy").symlink_to("new.npy")
    (folder / "to-files").symlink_to("files")
    before = sorted(os.listdir(folder))
    message = here.fails(2, *_INPUTS, f"--output=y={first}", f"--output=twice={second}")
    assert message == f"two outputs go to one file: {first} and {second}"
    assert sorted(os.listdir(folder)) == before
    assert (folder / "old.npy").read_bytes() == b"old"


def test_an_output_is_not_the_file_of_an_input(here: Command) -> None:
    x = here.folder / "x.npy"
    np.save(x, np.ones((2, 3), np.float32))
    kept = x.read_bytes()
    (here.folder / "again.npy").symlink_to("x.npy")
    for name in ("x.npy", "again.npy", str(x)):
        words = ("--input=x=x.npy", *_INPUTS[1:], f"--output=y={name}")
        assert here.fails(2, *words) == f"output {name} is the file of input 'x'"
    assert x.read_bytes() == kept


def test_a_name_that_no_output_has_is_no_file(here: Command) -> None:
    message = here.fails(2, *_INPUTS, "--output=nope=z")
    assert message == "main has no output 'nope'; a file of that name is ./nope=z"
    here.succeeds(*_INPUTS, "--output=./nope=z")
    assert np.load(here.folder / "nope=z").shape == (2, 3)


def test_a_name_that_no_input_has_is_no_file(here: Command) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(here.folder / "nope=x.npy", x)
    for words in (["--input=nope=x.npy", *_INPUTS[1:]], [*_INPUTS, "--input=nope=x.npy"]):
        message = here.fails(2, *words)
        assert message == "main has no input 'nope'; a file of that name is ./nope=x.npy"
    message = here.fails(1, "--input=x=nope=x.npy", *_INPUTS[1:])
    assert message == (
        "input 'x' is 2x3xf32, and elements of nope are given; a file of that name is ./nope=x.npy"
    )
    for text in ("./nope=x.npy", "x=./nope=x.npy", f"x={here.folder}/nope=x.npy"):
        here.succeeds(f"--input={text}", *_INPUTS[1:], "--output=y=y.npy")
        found = np.load(here.folder / "y.npy")
        here.succeeds("--input=x=2x3xf32=@iota", *_INPUTS[1:], "--output=y=y.npy")
        np.testing.assert_array_equal(found, np.load(here.folder / "y.npy"))


def test_devices_take_all_and_links_stay(here: Command) -> None:
    here.succeeds(*_INPUTS, "--output=y=/dev/null", "--output=twice=/dev/null")
    (here.folder / "link.npy").symlink_to("files/target.npy")
    here.succeeds(*_INPUTS, "--output=y=link.npy")
    assert (here.folder / "link.npy").is_symlink()
    assert np.load(here.folder / "files" / "target.npy").shape == (2, 3)
    mask = os.umask(0)
    os.umask(mask)
    mode = (here.folder / "files" / "target.npy").stat().st_mode
    assert mode & 0o777 == 0o666 & ~mask


def test_a_run_that_fails_leaves_no_file(here: Command) -> None:
    (here.folder / "old.npy").write_bytes(b"old")
    before = sorted(os.listdir(here.folder))
    # A wrong input, found after the outputs' names are; and a file beyond the limit on sizes.
    here.fails(1, "--input=x=2x4xf32=1", *_INPUTS[1:], "--output=y=new.npy")
    for name in ("new.npy", "old.npy"):
        done = subprocess.run(
            [here.path, *_INPUTS, f"--output=y={name}"],
            cwd=here.folder,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)),
            check=False,
        )
        assert done.returncode == 1
        assert done.stderr == f"add: error: cannot write {name}: File too large\n"
    assert sorted(os.listdir(here.folder)) == before
    assert (here.folder / "old.npy").read_bytes() == b"old"


def test_closed_streams_are_no_files(here: Command) -> None:
    """A file that is opened must not get the number of a closed standard stream."""
    for closed in (1, 2):
        done = subprocess.run(
            [here.path, *_INPUTS, "--print", "--output=y=y.npy"],
            cwd=here.folder,
            preexec_fn=lambda: os.close(closed),  # noqa: B023 - called at once
            check=False,
        )
        assert done.returncode == (1 if closed == 1 else 0)
        assert np.load(here.folder / "y.npy").shape == (2, 3)


def test_a_pipe_that_nobody_reads_ends_a_command_without_a_word(here: Command) -> None:
    """Python ignores SIGPIPE; a command that inherits that ends as if it did not."""
    for restores, status in ((True, -signal.SIGPIPE), (False, 128 + signal.SIGPIPE)):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(
            [here.path, *_INPUTS],
            stdout=writer,
            stderr=subprocess.PIPE,
            restore_signals=restores,
            check=False,
        )
        os.close(writer)
        assert (done.returncode, done.stderr) == (status, b"")

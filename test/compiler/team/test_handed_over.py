"""A library that its caller tells how it communicates: by a process group of torch, or a rank."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import hirc
from hirc import program as build
from hirc.compiler.errors import InputError
from support.command_server import EXITS
from support.driver import Hirc

_RUN = """
import sys
import torch
import torch.distributed as dist
import hirc
from hirc.compiler.errors import InputError

library, store, rank, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=size)
# The group's ranks are not the processes'.
group = dist.new_group([1, 2])
if rank:
    loaded = hirc.load(library, communicator=group)
    print(loaded.main(torch.arange(4.0) + rank).tolist(), flush=True)
    try:
        loaded.use_communicator(group)
    except InputError as error:
        print(error, flush=True)
dist.barrier()
dist.destroy_process_group()
"""


@pytest.fixture
def library(hirc: Hirc, tmp_path: Path) -> Path:
    with build("main") as p:
        x = p.input("x", ("n",), "f32")
        y = p.allocate((x.shape[0],), "f32")
        p.communicate("allreduce", x, y, p.communicator([0, 1]), reduction="sum").wait()
        p.output("y", y)
    source, built = tmp_path / "sum.mlir", tmp_path / "libsum.so"
    source.write_text(str(p))
    hirc.succeeds(source, "--offload-arch=cpu", "--emit=shared", "--emit-header", "-o", built)
    assert "int hirc_use_communicator(" in (tmp_path / "sum.h").read_text()
    return built


def test_a_process_group(library: Path, loaded_commands: Path, tmp_path: Path) -> None:
    store = tmp_path / f"store-{uuid.uuid4().hex}"
    processes = [
        subprocess.Popen(
            [loaded_commands / "python", "-c", _RUN, str(library), str(store), str(rank), "3"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, EXITS: "1"},
        )
        for rank in range(3)
    ]
    ended = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0] * 3, ended
    assert ended[0][0] == ""
    for output, _ in ended[1:]:
        values, late = output.splitlines()
        assert values == "[3.0, 5.0, 7.0, 9.0]"
        assert "the library communicates already" in late


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1234, 0, 2), "the CPU device has none"),
        ((None, 2, 2), "its rank is a number from 0 up to its size"),
        ((None, 2), "an address, a rank and a size, three whole numbers"),
        ("nccl", "a communicator is a process group of torch, or the address"),
    ],
)
def test_what_is_no_communicator(library: Path, given: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        hirc.load(library, communicator=given)


def test_a_library_that_does_not_communicate(hirc: Hirc, tmp_path: Path) -> None:
    from hirc import load

    with build("main") as p:
        p.output("y", p.input("x", (4,), "f32") + 1.0)
    source, built = tmp_path / "plain.mlir", tmp_path / "libplain.so"
    source.write_text(str(p))
    hirc.succeeds(source, "--offload-arch=cpu", "--emit=shared", "-o", built)
    with pytest.raises(InputError, match="has no program that communicates"):
        load(built, communicator=(None, 0, 1))


_FORKS = """
import multiprocessing, os, sys, time
import numpy as np
import hirc


def rank(number):
    global library  # which stays to the end
    library = hirc.load(sys.argv[1])
    x = np.full(3, number, np.float32)
    say(number, library.together(x))
    if number == 0:
        time.sleep(1)
        say(number, library.alone(x))


def say(number, values):
    # In one write, which the other rank's words cannot come between: print may take several.
    os.write(sys.stdout.fileno(), f"{number} {np.from_dlpack(values).tolist()}\\n".encode())


def begin(number):
    os.environ.update(HIRC_RANK=str(number), HIRC_WORLD_SIZE="2", HIRC_RENDEZVOUS=sys.argv[2])
    process = multiprocessing.get_context("fork").Process(target=rank, args=(number,))
    process.start()
    return process


processes = [begin(number) for number in range(2)]
for process in processes:
    process.join()
sys.exit(any(process.exitcode for process in processes))
"""


def test_forked_processes_of_python_say_goodbye(hirc: Hirc, tmp_path: Path) -> None:
    """One goes on by itself after the other, which was done, has ended."""
    built = tmp_path / "libtwo.so"
    sources: list[Path] = []
    for name, team in (("together", [0, 1]), ("alone", [0])):
        with build(name) as p:
            x = p.input("x", (3,), "f32")
            y = p.allocate((3,), "f32")
            p.communicate("allreduce", x, y, p.communicator(team), reduction="sum").wait()
            p.output("y", y)
        sources.append(tmp_path / f"{name}.mlir")
        sources[-1].write_text(str(p))
    hirc.succeeds(*sources, "--offload-arch=cpu", "--emit=shared", "-o", built)
    words = [sys.executable, "-c", _FORKS, str(built), f"unix:hirc-test-{uuid.uuid4().hex}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = ["0 [0.0, 0.0, 0.0]", "0 [1.0, 1.0, 1.0]", "1 [1.0, 1.0, 1.0]"]
    assert sorted(done.stdout.splitlines()) == lines

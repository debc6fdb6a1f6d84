"""Memory that peers share: puts, gets, signals and barriers, beside the interpreter's team."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from hirc import program as build
from hirc.compiler.errors import InputError
from hirc.compiler.interpreter import interpret_team
from hirc.dialects.hir.builder import Program
from hirc.tools.hirc import main as hirc

from .conftest import RunTeam
from .peer_programs import OUTPUTS, Case, endless, exchanges

_CANNOT = "error: the processes cannot go on together: "


@pytest.fixture(scope="module", params=[1, 2, 3, 4])
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, Program, Path]:
    size: int = request.param
    program = exchanges(size)
    folder = tmp_path_factory.mktemp("peers")
    (folder / "prog.mlir").write_text(str(program))
    words = [str(folder / "prog.mlir"), "--offload-arch=cpu", "-o", str(folder / "prog")]
    assert hirc(words) == 0
    return size, program, folder / "prog"


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_the_interpreter(
    built: tuple[int, Program, Path], run_team: RunTeam, tmp_path: Path, seed: int
) -> None:
    size, program, path = built
    case = Case.of(seed, size)
    numbers, values = case.numbers, case.values
    first, last = numbers["first"], numbers["last"]
    inputs = [[torch.from_numpy(each), *numbers.values()] for each in values]
    expected = interpret_team(program, inputs)
    for rank, each in enumerate(values):
        np.save(tmp_path / f"x.{rank}.npy", each)
    # A process that is alone has no rank to put into names.
    number = "%r" if size > 1 else "0"
    words = [f"--input=x={tmp_path}/x.{number}.npy"]
    words += [f"--input={name}={scalar}" for name, scalar in numbers.items()]
    words += [f"--output={name}={tmp_path}/{name}.{number}.npy" for name in OUTPUTS]
    ended = run_team([[path, *words]] * size)
    assert [(each.status, each.errors) for each in ended] == [(0, "")] * size
    for rank in range(size):
        results = dict(zip(OUTPUTS, expected[rank], strict=True))
        for name, wanted in results.items():
            given = np.load(tmp_path / f"{name}.{rank}.npy")
            np.testing.assert_array_equal(given, wanted.numpy(), err_msg=f"{name} of {rank}")
        # What the interpreter says is what numpy says.
        before = values[(rank - numbers["shift"]) % size]
        np.testing.assert_array_equal(results["read"][first:last], before[first:last])
        np.testing.assert_array_equal(results["again"], -values[(rank + numbers["shift"]) % size])
        np.testing.assert_array_equal(
            results["everybody"], np.stack([2 * each[0] for each in values])
        )
        np.testing.assert_array_equal(
            results["line"], values[rank - 1] if rank else np.zeros_like(values[0])
        )


def _compiled(program: Program, folder: Path, *options: str) -> Path:
    (folder / "prog.mlir").write_text(str(program))
    words = [str(folder / "prog.mlir"), "--offload-arch=cpu", *options]
    assert hirc([*words, "-o", str(folder / "prog")]) == 0
    return folder / "prog"


@pytest.fixture(scope="module")
def endless_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _compiled(endless(), tmp_path_factory.mktemp("endless"))


def _words(length: int, times: int, peer: int, waits: int = 0) -> list[str]:
    return [f"--input={length}xf32=1", *(f"--input={each}" for each in (times, peer, waits))]


def test_a_peer_that_is_none(endless_program: Path, run_team: RunTeam) -> None:
    ended = run_team([[endless_program, *_words(4, 1, 2)]] * 2)
    assert [each.status for each in ended] == [1, 1]
    assert any("place 2 of a team of 2, where places are -1 to 1" in each.errors for each in ended)


def test_sizes_that_differ(endless_program: Path, run_team: RunTeam) -> None:
    ended = run_team([[endless_program, *_words(length, 1, 0)] for length in (4, 8)])
    assert [each.status for each in ended] == [1, 1]
    said = "bytes of memory that its team shares, and rank"
    assert all(_CANNOT in each.errors and said in each.errors for each in ended)


def test_a_process_that_dies(endless_program: Path, run_team: RunTeam) -> None:
    """The other one waits at a flag, and hears of it."""
    lives = [str(endless_program), *_words(4, 2_000_000_000, 1)]
    dies = ["timeout", "--signal=KILL", "2", str(endless_program), *_words(4, 2_000_000_000, 0)]
    ended = run_team([lives, dies])
    assert ended[0].status == 1
    assert f"{_CANNOT}the process of rank 1 has ended" in ended[0].errors


def test_a_signal_that_nobody_sends(endless_program: Path, run_team: RunTeam) -> None:
    """A wait ends at the time limit, or as soon as the other has come to its end."""
    words = [[endless_program, *_words(4, 1, 1 - rank, waits=1)] for rank in range(2)]
    ended = run_team(words, {"HIRC_COMMUNICATION_SECONDS": "3"})
    assert [each.status for each in ended] == [1, 1]
    assert all(f"{_CANNOT}rank " in each.errors for each in ended)
    assert any("has waited 3 seconds for a signal of rank" in each.errors for each in ended)
    ended = run_team(
        [[endless_program, *_words(4, 1, 1 - rank, waits=1 - rank)] for rank in range(2)]
    )
    assert ended[0].status == 1
    assert "for a signal of place 1 of its team, which has come to its program's end" in (
        ended[0].errors
    )


def test_what_is_left_out_does_not_count_later(run_team: RunTeam, tmp_path: Path) -> None:
    """A signal that nobody waited for is of its allocation alone."""
    with build("main") as p:
        team = p.communicator([0, 1])
        rank = p.rank(team)
        x = p.input("x", (2,), "f32")
        total = p.allocate((2,), "f32", zero_init=True)
        with p.loop(50) as i:
            shared = p.allocate((2,), "f32", memory="symmetric", team=team, zero_init=True)
            p.put(x, shared, 1 - rank, signal=True).wait()
            p.put(x * (i.cast("f32") + 1.0), shared, 1 - rank, signal=True).wait()
            p.wait_signal(shared, 1 - rank)
            p.barrier(shared)
            p.set(total + shared, out=total)
        p.output("y", total)
    path = _compiled(p, tmp_path)
    ended = run_team([[path, "--input=2xf32=1"]] * 2)
    assert [each.status for each in ended] == [0, 0], ended
    assert "[1275. 1275.]" in ended[0].output


def test_what_is_put_is_not_there_before_its_wait() -> None:
    """The interpreter finds a read that nothing orders after the peer's put."""
    with build("main") as p:
        team = p.communicator([0, 1])
        rank = p.rank(team)
        x = p.input("x", (2,), "f32")
        shared = p.allocate((2,), "f32", memory="symmetric", team=team)
        p.put(x, shared, 1 - rank, signal=True).wait()
        p.output("y", shared + 0.0)
    with pytest.raises(InputError, match="that nothing was written to"):
        interpret_team(p, [[torch.ones(2)]] * 2)


def test_signals_that_are_missing() -> None:
    with build("main") as p:
        team = p.communicator([0, 1])
        x = p.input("x", (2,), "f32")
        shared = p.allocate((2,), "f32", memory="symmetric", team=team, zero_init=True)
        p.wait_signal(shared, 1 - p.rank(team))
        p.output("y", shared + x)
    with pytest.raises(InputError, match=r"device 0 waits at .* for 1; device 1 waits at .* for 0"):
        interpret_team(p, [[torch.ones(2)]] * 2)


def test_an_allocation_of_another_size_in_the_interpreter() -> None:
    with build("main") as p:
        team = p.communicator([0, 1])
        x = p.input("x", ("n",), "f32")
        shared = p.allocate((x.shape[0],), "f32", memory="symmetric", team=team, zero_init=True)
        p.output("y", shared + x)
    with pytest.raises(InputError, match="memory that a team shares has one size"):
        interpret_team(p, [[torch.ones(2)], [torch.ones(3)]])


_ORDER = """\
"hir.program"() ({
^bb0(%x: memref<512xf32>):
  %team = "hir.communicator"() {team = array<i64: 0>} : () -> !hir.communicator_t
  %zero = arith.constant 0 : index
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0>, zero_init}
    : () -> memref<512xf32>
  %y = "hir.allocate"() : () -> memref<512xf32>
  "hir.set"(%x, %y) : (memref<512xf32>, memref<512xf32>) -> ()
  %request = "hir.MOVED"(%FROM, %TO, %zero)
    : (memref<512xf32>, memref<512xf32>, index) -> !hir.request_t
  WAIT_BEFORE
  "hir.unary"(%x, %FROM) {kind = "neg"} : (memref<512xf32>, memref<512xf32>) -> ()
  WAIT_AFTER
  %z = "hir.unary"(%TO) {kind = "neg"} : (memref<512xf32>) -> memref<512xf32>
  "hir.deallocate"(%y) : (memref<512xf32>) -> ()
  "hir.deallocate"(%shared) : (memref<512xf32>) -> ()
  "hir.output"(%z) {name = "z"} : (memref<512xf32>) -> ()
}) {sym_name = "main", function_type = (memref<512xf32>) -> memref<512xf32>} : () -> ()
"""


@pytest.mark.parametrize("is_ordered", [True, False])
@pytest.mark.parametrize("moved", ["put", "get"])
def test_a_missing_wait_is_reported(tmp_path: Path, moved: str, is_ordered: bool) -> None:
    """`--check` finds what is written while it is put, or got."""
    source, target = ("y", "shared") if moved == "put" else ("shared", "y")
    text = _ORDER.replace("MOVED", moved).replace("FROM", source).replace("TO", target)
    wait = '"hir.wait"(%request) : (!hir.request_t) -> ()'
    text = text.replace("WAIT_BEFORE", wait if is_ordered else "")
    (tmp_path / "prog.mlir").write_text(text.replace("WAIT_AFTER", "" if is_ordered else wait))
    words = [str(tmp_path / "prog.mlir"), "--offload-arch=cpu", "--check=memory,race", "-o"]
    assert hirc([*words, str(tmp_path / "prog")]) == 0
    ended = subprocess.run(
        [tmp_path / "prog", "--input=512xf32=1"], check=False, capture_output=True, text=True
    )
    assert ("race" in ended.stderr) != is_ordered, ended.stderr
    assert (ended.returncode == 0) == is_ordered


def test_a_checked_team_has_no_reports(run_team: RunTeam, tmp_path: Path) -> None:
    """What peers do is no race, and what they wrote is written."""
    path = _compiled(exchanges(2), tmp_path, "--check=memory,race")
    case = Case.of(3, 2)
    for rank, each in enumerate(case.values):
        np.save(tmp_path / f"x.{rank}.npy", each)
    words = [f"--input=x={tmp_path}/x.%r.npy"]
    words += [f"--input={name}={number}" for name, number in case.numbers.items()]
    ended = run_team([[path, *words]] * 2)
    assert [(each.status, each.errors) for each in ended] == [(0, "")] * 2


_BEYOND = """\
"hir.program"() ({
^bb0(%x: memref<4xf32>):
  %team = "hir.communicator"() {team = array<i64: 0>} : () -> !hir.communicator_t
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %shared = "hir.allocate"() {memory = "symmetric", team = array<i64: 0>, zero_init}
    : () -> memref<4xf32>
  "hir.launch"(%one, %one, %one, %one, %one, %one, %zero) ({
    "hir.argument"(%shared) : (memref<4xf32>) -> ()
  }) {kernel = @kernels::@beyond}
    : (index, index, index, index, index, index, index) -> ()
  "hir.deallocate"(%shared) : (memref<4xf32>) -> ()
  "hir.output"(%x) {name = "y"} : (memref<4xf32>) -> ()
}) {sym_name = "main", function_type = (memref<4xf32>) -> memref<4xf32>} : () -> ()
gpu.module @kernels {
  gpu.func @beyond(%x: memref<4xf32>) kernel {
    %place = arith.constant 5 : index
    %value = arith.constant 1.0 : f32
    memref.store %value, %x[%place] : memref<4xf32>
    gpu.return
  }
}
"""


def test_an_access_beyond_it_is_reported(tmp_path: Path) -> None:
    (tmp_path / "prog.mlir").write_text(_BEYOND)
    words = [str(tmp_path / "prog.mlir"), "--offload-arch=cpu", "--check=memory", "-o"]
    assert hirc([*words, str(tmp_path / "prog")]) == 0
    ended = subprocess.run(
        [tmp_path / "prog", "--input=4xf32=1"], check=False, capture_output=True, text=True
    )
    assert ended.returncode != 0
    assert "error: out-of-bounds write of 4 bytes in kernel beyond" in ended.stderr, ended.stderr

"""check_models draw: problems are valid, the same for a seed, and have the work asked for."""

from __future__ import annotations

import itertools
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
import torch

from hirc.tools.check_models import compare
from hirc.tools.check_models.__main__ import main as check_models
from hirc.tools.check_models.compare import await_memory, seconds_of
from hirc.tools.check_models.drawn.draw import Draw
from hirc.tools.check_models.drawn.work import Work, estimate
from hirc.tools.check_models.drawn.writing import LEVELS, drawn
from hirc.tools.check_models.run import main as run_models
from hirc.tools.check_models.run import summary


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("tiny", [True, False])
def test_problems_are_valid(level: int, tiny: bool) -> None:
    """Whatever is drawn can be called: shapes fit by how they are drawn."""
    kinds: set[str] = set()
    for number in range(60 if tiny else 12):
        problem = LEVELS[level](Draw(f"valid {level} {number}", tiny=tiny))
        if tiny or not problem.is_stepwise:
            assert estimate(problem.text("")).seconds > 0, problem
        kinds.add(problem.kind)
    assert len(kinds) > (20 if tiny else 5)


def test_a_seed_says_what_is_drawn(tmp_path: Path) -> None:
    texts: list[dict[str, str]] = []
    for folder, seed in (("one", 3), ("same", 3), ("other", 4)):
        words = ["draw", str(tmp_path / folder), "--count=6", f"--seed={seed}", "--tiny"]
        assert check_models(words) == 0
        texts.append({each.name: each.read_text() for each in (tmp_path / folder).iterdir()})
    assert len(texts[0]) == 6
    assert sorted(name[:6] for name in texts[0]) == [
        "level1",
        "level1",
        *["level2"] * 2,
        *["level3"] * 2,
    ]
    assert texts[0] == texts[1]
    assert not set(texts[0].values()) & set(texts[2].values())
    with pytest.raises(SystemExit):
        check_models(["draw", str(tmp_path), "--levels=4"])


def test_the_work_is_what_was_asked_for() -> None:
    for number in range(4):
        _, text = drawn(2, number, 1, tiny=False)
        assert 1e-4 <= estimate(text).seconds <= 2e-2
    assert not Work(1e-5, 1).is_wanted(1e-4)
    assert not Work(1, 1).is_wanted(1e-4)
    assert not Work(1e-3, 10**10).is_wanted(1e-4)


def test_work_is_estimated_from_sums_and_bytes() -> None:
    text = LEVELS[1](Draw("any", tiny=True)).text("")
    body = text[: text.index("class Model")]
    body += (
        "class Model(nn.Module):\n    def forward(self, a, b):\n        return a @ b\n"
        "def get_inputs():\n    return [torch.rand(1024, 4096), torch.rand(4096, 2048)]\n"
        "def get_init_inputs():\n    return []\n"
    )
    work = estimate(body)
    moved = 4 * (1024 * 4096 + 4096 * 2048 + 1024 * 2048)
    assert work.seconds == pytest.approx(2 * 1024 * 4096 * 2048 / 4e13 + moved / 3.5e12)
    assert work.bytes == moved + 4 * (1024 * 4096 + 4096 * 2048)


def test_drawn_problems_are_built_side_by_side_and_right(
    tmp_path: Path, loaded_commands: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    problems, built = tmp_path / "problems", tmp_path / "built"
    check_models(["draw", str(problems), "--count=2", "--levels=2", "--seed=5", "--tiny"])
    files = sorted(map(str, problems.iterdir()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", str(loaded_commands / "python"))
        words = ["build", str(built), "--offload-arch=cpu", "-O0", "--jobs=2", "--files", *files]
        assert check_models(words) == 0, capfd.readouterr().err
    ran = subprocess.run(
        [sys.executable, str(built / "run.py"), "--jobs=2", "--contenders=eager"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 networks, 0 not right" in ran.stdout, ran.stdout + ran.stderr
    assert re.search(r"^level2 +eager / ours: \d+\.\d\d of 2; ", ran.stdout, re.MULTILINE)
    _check_what_is_kept(built)


def _check_what_is_kept(built: Path) -> None:
    """What an earlier run timed stands, and where another contender fails, what it found does."""
    kept = {each: each.read_text() for each in built.glob("*.result")}
    for each in built.glob("*.so"):
        each.unlink()
    for contenders in ("eager", "eager,compile"):
        words = [f"--contenders={contenders}", "--timeout=60"]
        ran = subprocess.run(
            [sys.executable, str(built / "run.py"), *words],
            capture_output=True,
            text=True,
            check=False,
        )
        assert "2 networks, 0 not right" in ran.stdout, ran.stdout + ran.stderr
        assert {each: each.read_text() for each in built.glob("*.result")} == kept
    ran = subprocess.run(
        [sys.executable, str(built / "run.py"), "--again", "--compiled=0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 networks, 2 not right" in ran.stdout, ran.stdout + ran.stderr


def _row(name: str, right: bool, **seconds: float) -> dict[str, Any]:
    return {"name": name, "right": right, "seconds": seconds}


def test_summary() -> None:
    rows = [
        _row("level1_a", True, ours=1.0, eager=4.0),
        _row("level1_b", True, ours=2.0, eager=2.0, compile=1.0),
        _row("level3_c", False, ours=1.0, eager=100.0),
        {"name": "mlp", "right": False, "why": "not built"},
    ]
    assert summary(rows, ["eager", "compile"]) == [
        "level1              eager / ours: 2.00 of 2; 2 at 0.97 or better, 0 below 0.7",
        "level1            compile / ours: 0.50 of 1; 0 at 0.97 or better, 1 below 0.7",
        "all                 eager / ours: 2.00 of 2; 2 at 0.97 or better, 0 below 0.7",
        "all               compile / ours: 0.50 of 1; 0 at 0.97 or better, 1 below 0.7",
    ]


_PROCESS = """
import sys, time
from pathlib import Path
from hirc.tools.check_models.turn import Turn
turn = Turn(Path(sys.argv[1]), {limit})
time.sleep({before})
turn.take()
turn.take()
start = time.time()
time.sleep({during})
print(start, time.time(), flush=True)
turn.leave()
time.sleep({after})
"""


def _process(
    lock: Path, limit: float, before: float = 0, during: float = 0, after: float = 0
) -> subprocess.Popen[str]:
    program = _PROCESS.format(limit=limit, before=before, during=during, after=after)
    command = [sys.executable, "-c", program, str(lock)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_one_at_a_time_has_its_turn(tmp_path: Path) -> None:
    """Waiting counts as nothing: together they take longer than the limit of each."""
    processes = [_process(tmp_path / "lock", limit=2, during=1) for _ in range(3)]
    ends = [each.communicate(timeout=60)[0] for each in processes]
    assert [each.returncode for each in processes] == [0] * 3
    spans = sorted(tuple(map(float, end.split())) for end in ends)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))


@pytest.mark.parametrize("where", ["before", "during", "after"])
def test_what_takes_too_long_is_ended(tmp_path: Path, where: str) -> None:
    """Where it has the device then, the next one gets it."""
    late = _process(tmp_path / "lock", limit=2, **{where: 60})
    assert late.wait(timeout=40) == -signal.SIGALRM
    late.communicate()
    other = _process(tmp_path / "lock", limit=60)
    assert other.communicate(timeout=40)[0]
    assert other.returncode == 0


class _Turn:
    """Writes down when it is taken and left."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def take(self) -> None:
        self.events.append("take")

    def leave(self) -> None:
        self.events.append("leave")


# Of torch's own, where inductor is imported.
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_torch_compiles_without_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes it again where it chooses by timing, and has it when what it compiled runs. What
    fails leaves the others.
    """
    from torch._inductor import list_mode_options
    from torch._inductor.runtime.benchmarking import benchmarker

    turn = _Turn()
    events = turn.events

    def benchmark(*_: Any) -> None:
        events.append("benchmark")

    def compile_fx(graph: Any, inputs: Any, config_patches: dict[str, Any]) -> Any:
        events.append("compile")
        if config_patches == list_mode_options("reduce-overhead"):
            raise ValueError("no such graph\nnor another")
        assert config_patches == list_mode_options("default")
        cast(Any, benchmarker).benchmark()

        def run(*arguments: Any) -> Any:
            if events[-1] != "run":
                events.append("run")
            return graph(*arguments)

        return run

    monkeypatch.setattr(benchmarker, "benchmark", benchmark)
    monkeypatch.setattr("torch._inductor.compile_fx.compile_fx", compile_fx)
    model, inputs = torch.nn.Linear(2, 3), (torch.ones(4, 2),)
    contenders = ["eager", "compile", "reduce-overhead"]
    seconds, failed = seconds_of(lambda: model(*inputs), model, inputs, contenders, cast(Any, turn))
    assert [*seconds] == ["ours", "eager", "compile"]
    assert min(seconds.values()) > 0
    assert failed == {"reduce-overhead": "ValueError: no such graph"}
    assert events == [
        *["leave", "compile", "take", "benchmark", "take", "run"],
        *["leave", "compile", "take", "run"],
    ]


def test_networks_wait_for_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that finds too little leaves the device to those that hold it, but not for ever."""
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    turn, free = _Turn(), iter([10, 49, 50])
    await_memory(cast(Any, turn), lambda: (next(free), 100))
    assert turn.events == ["leave", "take"] * 2
    assert len(waited) == 2
    monkeypatch.setattr(compare, "_MOST_WAITED", -1.0)
    await_memory(cast(Any, turn), lambda: (0, 100))
    assert len(waited) == 2


_CHILD = """
import json, sys, time
from pathlib import Path
from hirc.tools.check_models.turn import Turn
name = sys.argv[sys.argv.index("--child") + 1]
turn = Turn(Path(sys.argv[0]).with_name("lock"), 60 if name == "dies" else 2)
if name != "silent":
    said = {"right": True, "error": {"ours": 0.0, "eager": 0.0}, "exact": True, "seconds": {}}
    print(json.dumps(said), flush=True)
    print("a line of somebody else")
if name == "hangs":
    time.sleep(60)
raise SystemExit("no more memory")
"""


def test_what_ends_a_process_leaves_what_it_found(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names = ["dies", "hangs", "silent"]
    (tmp_path / "run.py").write_text(_CHILD)
    for name in names:
        (tmp_path / f"{name}.json").write_text(json.dumps({"name": name, "seconds": {}}))
    found = tmp_path / "all.figures"
    assert run_models(tmp_path, ["--jobs=3", "--timeout=2", f"--json={found}"]) == 1
    rows = {row["name"]: row for row in json.loads(found.read_text())}
    assert rows["dies"]["right"]
    assert rows["dies"]["failed"] == {"eager": "no more memory"}
    assert rows["hangs"]["right"]
    assert rows["hangs"]["failed"] == {"eager": "not done after 2 s"}
    assert rows["silent"]["why"] == "no more memory"
    said = capfd.readouterr().out
    assert re.search(r"^dies +0\.0e\+00 +0\.0e\+00  eager: no more memory$", said, re.MULTILINE)
    assert "3 networks, 1 not right, 2 not timed whole" in said
    assert run_models(tmp_path, ["--models=dies", "--timeout=2"]) == 1
    assert sorted(each.stem for each in tmp_path.glob("*.result")) == ["dies", "hangs"]

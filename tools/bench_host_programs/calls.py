"""Times calls from Python on this machine's GPU: hirc.load, tvm-ffi, and torch's ways beside them.

`python calls.py --json F.json [--ptx K.ptx]` in a folder that `bench_host --gpu` built. Runs the
executable `calls` too, for calls from C. Needs torch, and of hirc its loader; where all of hirc is
installed, programs are compiled in the process too, with and without a cache.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

HERE = Path(__file__).parent.resolve()
# The loader that lies here is for machines without hirc. An editable install is found behind every
# folder, so that hirc is looked for without this one first.
sys.path[:] = [each for each in sys.path if Path(each).resolve() != HERE]
with contextlib.suppress(ImportError):
    import hirc
sys.path.append(str(HERE))

from models import (  # noqa: E402
    CONTAINED,
    FUNCTIONS,
    OPEN,
    SIZES,
    TYPES,
    contained,
    containers,
)

import hirc  # noqa: E402

_CHAINS = (1, 10, 100)
_PARTS = ["c", "chains", "models", "containers", "process", "compile"]
# Sizes that a changing call takes in turn; each is beside a reduce-overhead graph of torch's.
_TURNS = 4

Call = Callable[[int], Any]


def measure(one: Call, calls: int, wait_every: int, turns: int) -> dict[str, float]:
    """Microseconds: the first call, median and 99th percentile of the host's, and with the wait."""
    torch.cuda.synchronize()
    clock = time.perf_counter_ns
    start = clock()
    one(0)
    first = clock() - start
    for i in range(3 * turns + 20):
        one(i % turns)
    torch.cuda.synchronize()
    host: list[int] = []
    for i in range(calls):
        turn = i % turns
        start = clock()
        one(turn)
        host.append(clock() - start)
        if i % wait_every == 0:
            torch.cuda.synchronize()
    whole: list[int] = []
    for i in range(max(calls // 10, 20)):
        torch.cuda.synchronize()
        start = clock()
        one(i % turns)
        torch.cuda.synchronize()
        whole.append(clock() - start)
    host.sort()
    return {
        "first": first / 1e3,
        "median": statistics.median(host) / 1e3,
        "p99": host[len(host) * 99 // 100] / 1e3,
        "wall": statistics.median(whole) / 1e3,
    }


def _compare(one: Call, expected: Sequence[Any] | None) -> None:
    for turn, wanted in enumerate(expected or ()):
        torch.testing.assert_close(one(turn), wanted, rtol=2e-2, atol=2e-2)


class Bench:
    """Rows of one run."""

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.rows: list[dict[str, Any]] = []

    def row(
        self,
        program: str,
        who: str,
        outputs: str,
        one: Call,
        *,
        kernels: int = 1,
        turns: int = 1,
        expected: Sequence[Any] | None = None,
    ) -> None:
        """Measures one way to call a program, after comparing what it gives."""
        shapes = "fixed" if turns == 1 else "changing"
        try:
            _compare(one, expected)
            found = measure(one, self.calls, max(256 // kernels, 4), turns)
            _compare(one, expected)
        except Exception as error:  # noqa: BLE001
            print(
                f"{program:9} {who:16} {outputs:9} {shapes:8} {type(error).__name__}: {error}"[:300]
            )
            return
        row = {"program": program, "who": who, "outputs": outputs, "shapes": shapes, **found}
        self.rows.append(row)
        print(shown(row), flush=True)


def shown(row: dict[str, Any]) -> str:
    """Returns a row as a line of the table."""
    figures = " ".join(f"{row[name]:10.2f}" for name in ("first", "median", "p99", "wall"))
    return f"{row['program']:9} {row['who']:16} {row['outputs']:9} {row['shapes']:8} {figures}"


def _of_c(bench: Bench, calls: int) -> None:
    done = subprocess.run(
        [HERE / "calls", str(calls), HERE / "chain.ptx"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        print(f"calls: {done.stderr}")
    for line in done.stdout.splitlines():
        kernels, who, outputs, shapes, first, median, p99, wall = line.split()
        row = {"program": f"chain{kernels}", "who": f"C {who}", "outputs": outputs}
        row |= {"shapes": shapes, "first": float(first), "median": float(median)}
        row |= {"p99": float(p99), "wall": float(wall)}
        bench.rows.append(row)
        print(shown(row), flush=True)


def _module(path: Path) -> Any:
    try:
        import tvm_ffi
    except ImportError as error:
        print(f"tvm-ffi is not here: {error}")
        return None
    return tvm_ffi.load_module(str(path))


def _ours(
    bench: Bench,
    name: str,
    program: Any,
    packed: Any,
    inputs: list[list[torch.Tensor]],
    outs: list[torch.Tensor],
    expected: list[torch.Tensor],
    kernels: int = 1,
) -> None:
    turns = len(inputs)

    def loaded(turn: int) -> Any:
        return program(*inputs[turn])

    def loaded_out(turn: int) -> Any:
        return program(*inputs[turn], out=outs[turn])

    def ffi(turn: int) -> Any:
        return packed(*inputs[turn])

    def ffi_out(turn: int) -> Any:
        packed(*inputs[turn], outs[turn])
        return outs[turn]

    def row(who: str, outputs: str, one: Call) -> None:
        bench.row(name, who, outputs, one, kernels=kernels, turns=turns, expected=expected)

    row("hirc.load", "allocated", loaded)
    row("hirc.load", "given", loaded_out)
    if packed is not None:
        row("tvm-ffi", "allocated", lambda turn: torch.from_dlpack(ffi(turn)))
        row("tvm-ffi", "given", ffi_out)


def _tell_graphs(library: Any) -> None:
    counts = (ctypes.c_int64 * 5)()
    library.loaded.hirc_graph_counts(counts)
    if any(counts):
        recorded, replayed, changed, left, repeated = counts
        print(
            f"graphs: {recorded} recorded, {replayed} replays ({repeated} computed nothing),"
            f" {changed} nodes changed, {left} left"
        )


def _inputs(name: str, turns: int) -> list[list[torch.Tensor]]:
    def numbers(sizes: tuple[int, ...]) -> torch.Tensor:
        made = torch.randn(sizes, device="cuda") * 0.1
        return made.to(TYPES.get(name, torch.float32))

    made: list[list[torch.Tensor]] = []
    for turn in range(turns):
        sizes = list(SIZES[name])
        for place in range(OPEN[name]):
            sizes[place] = (sizes[place][0] - turn, *sizes[place][1:])
        if turn == 0 or OPEN[name] == len(sizes):
            made.append([numbers(each) for each in sizes])
        else:
            made.append([numbers(sizes[0]), *made[0][1:]])
    return made


def _models(bench: Bench, names: Sequence[str]) -> None:
    for name in names:
        function = FUNCTIONS[name]
        path = HERE / f"lib{name}.so"
        library = hirc.load(path)
        program = next(iter(library.programs.values()))
        module = _module(path)
        packed = None if module is None else module[program.name]
        for turns in (1, _TURNS):
            inputs = _inputs(name, turns)
            expected = [function(*each) for each in inputs]
            outs = [torch.empty_like(each) for each in expected]
            _ours(bench, name, program, packed, inputs, outs, expected)

            _tell_graphs(library)
            eager = partial(_call, function, inputs)
            bench.row(name, "eager", "allocated", eager, turns=turns)


def _containers(bench: Bench) -> None:
    """Times models whose tensors are in containers, and the programs that they call."""
    for count in CONTAINED:
        model = hirc.load(HERE / f"libcontainers{count}.so")
        tensors = [torch.randn(8, 64, device="cuda") for _ in range(count)]
        given = contained(tensors)
        expected = containers(given)
        out = containers(given)
        outs = [out["first"], *out["rest"]]
        name = f"inside{count}"
        flat: Any = [expected["first"], *expected["rest"]] if count > 1 else expected["first"]
        for who, outputs, one, wanted in (
            ("model", "allocated", partial(_one, model, [given], {}), expected),
            ("model", "given", partial(_one, model, [given], {"out": out}), expected),
            ("hirc.load", "allocated", partial(_one, model.program, tensors, {}), flat),
            ("hirc.load", "given", partial(_one, model.program, tensors, {"out": outs}), flat),
            ("eager", "allocated", partial(_one, containers, [given], {}), expected),
        ):
            bench.row(name, who, outputs, one, expected=[wanted], kernels=count)


def _one(function: Callable[..., Any], given: list[Any], named: dict[str, Any], _: int) -> Any:
    found = function(*given, **named)
    return list(found) if isinstance(found, tuple) else found


def _in_process(bench: Bench, names: Sequence[str]) -> None:
    """Compiles here and now: the first time without what Python has imported, then anew, then from
    the cache.
    """
    if importlib.util.find_spec("hirc.compiler.compile_program") is None:
        print("in process: hirc is not installed here")
        return
    from torch.export import Dim

    for name in names:
        function = FUNCTIONS[name]
        rows = {0: Dim("rows", min=2, max=4096)}
        shapes = tuple(rows if i < OPEN[name] else None for i in range(len(SIZES[name])))
        inputs = _inputs(name, 1)
        expected = [function(*inputs[0])]
        outs = [torch.empty_like(expected[0])]
        program: Any = None
        for how, kept in (("anew", False), ("anew", False), ("cache", True), ("cache", True)):
            start = time.perf_counter()
            program = hirc.compile(
                function, inputs[0], dynamic_shapes=shapes, opt_level=3, cache=kept
            )
            print(f"{name}: compiled, {how}: {1e3 * (time.perf_counter() - start):.1f} ms")
        _rows_in_process(bench, name, program, inputs, outs, expected)
    start = time.perf_counter()
    chains = hirc.compile(HERE / "chain.mlir", entry="chain1", opt_level=3, cache=False)
    print(f"chains: compiled, anew: {1e3 * (time.perf_counter() - start):.1f} ms")
    for count in _CHAINS:
        inputs = [[torch.arange(1024.0, device="cuda")]]
        expected = [inputs[0][0] + count]
        program = chains.programs[f"chain{count}"]
        outs = [torch.empty_like(expected[0])]
        _rows_in_process(bench, f"chain{count}", program, inputs, outs, expected, count)


def _rows_in_process(
    bench: Bench,
    name: str,
    program: Any,
    inputs: list[list[torch.Tensor]],
    outs: list[torch.Tensor],
    expected: list[torch.Tensor],
    kernels: int = 1,
) -> None:
    def allocated(turn: int) -> Any:
        return program(*inputs[turn])

    def given(turn: int) -> Any:
        return program(*inputs[turn], out=outs[turn])

    for outputs, one in (("allocated", allocated), ("given", given)):
        bench.row(name, "in process", outputs, one, kernels=kernels, expected=expected)


def _compiled(bench: Bench, names: Sequence[str]) -> None:
    for turns in (1, _TURNS):
        for name in names:
            inputs = _inputs(name, turns)
            for mode in ("default", "reduce-overhead"):
                torch.compiler.reset()
                made: Any = torch.compile(FUNCTIONS[name], mode=mode, dynamic=turns > 1)
                run = partial(_call, made, inputs)
                bench.row(name, f"compile {mode[:8]}", "allocated", run, turns=turns)


def _call(function: Callable[..., Any], inputs: list[list[torch.Tensor]], turn: int) -> Any:
    return function(*inputs[turn])


def _add_ones(count: int, x: torch.Tensor) -> torch.Tensor:
    for _ in range(count):
        x = x + 1
    return x


def _chains(bench: Bench) -> None:
    library, module = hirc.load(HERE / "libcalls.so"), _module(HERE / "libcalls.so")
    for count in _CHAINS:
        for turns in (1, _TURNS):
            inputs = [[torch.arange(1024.0 - 8 * turn, device="cuda")] for turn in range(turns)]
            expected = [each[0] + count for each in inputs]
            outs = [torch.empty_like(each) for each in expected]
            name = f"chain{count}"
            packed = None if module is None else module[name]
            _ours(bench, name, library[name], packed, inputs, outs, expected, count)

            _tell_graphs(library)
            eager = partial(_call, partial(_add_ones, count), inputs)
            bench.row(name, "eager", "allocated", eager, turns=turns, kernels=count)


def main() -> int:
    """Measures, prints and writes. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--calls", type=int, default=1000, help="calls of each from Python (1000)")
    parser.add_argument("--parts", nargs="+", default=_PARTS, choices=_PARTS)
    parser.add_argument("--only", nargs="+", default=list(FUNCTIONS), choices=list(FUNCTIONS))
    options = parser.parse_args()
    bench = Bench(options.calls)
    header = " ".join(f"{name:>10}" for name in ("first", "median", "p99", "wall"))
    print(
        "microseconds of the host a call\n"
        f"{'program':9} {'who':16} {'outputs':9} {'shapes':8} {header}"
    )
    if "c" in options.parts:
        _of_c(bench, 4 * options.calls)
    with torch.no_grad():
        if "chains" in options.parts:
            _chains(bench)
        if "models" in options.parts:
            _models(bench, options.only)
        if "containers" in options.parts:
            _containers(bench)
        if "process" in options.parts:
            _in_process(bench, options.only)
        if "compile" in options.parts:
            _compiled(bench, options.only)
    if options.json:
        device = torch.cuda.get_device_properties(0)
        machine = {"chip": device.name, "torch": torch.__version__, "date": time.strftime("%F %T")}
        options.json.write_text(json.dumps({"machine": machine, "rows": bench.rows}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

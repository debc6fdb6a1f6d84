"""The command: surveys operators in processes that may crash, and prints what they found."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

# What a word means, worst first.
_STATUSES = {
    "crashed": "the process ended, or took too long",
    "wrong": "it computes something else than torch",
    "failed": "an error that is no refusal",
    "refused": "an error that says what is not supported",
    "random": "torch itself gives different values",
    "unknown": "torch does not compute the sample",
    "right": "",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Surveys. Returns the exit status: 1 where an operator crashed, failed or was wrong."""
    parser = argparse.ArgumentParser(prog="survey_torch", description=__doc__)
    parser.add_argument("--operators", default="", metavar="REGEX", help="those with these names")
    parser.add_argument("--dtypes", default="float32", help="element types, with commas between")
    parser.add_argument("--samples", type=int, default=2, help="of each operator and type")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=120, help="seconds that a sample may take")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write what was found")
    options = parser.parse_args(arguments)
    # Imported late: torch takes seconds to load.
    from .samples import operators

    names = [name for name in operators() if re.search(options.operators, name)]
    told = list(
        _survey(names, options.dtypes.split(","), options.samples, options.seed, options.timeout)
    )
    if options.json is not None:
        options.json.write_text(json.dumps(told, indent=1) + "\n")
    _print(told)
    return int(any(each["status"] in ("crashed", "failed", "wrong") for each in told))


def _survey(
    names: Sequence[str], dtypes: Sequence[str], count: int, seed: int, timeout: float
) -> Iterator[dict[str, str]]:
    """Yields how each sample came out. After a crash the next process begins with the next
    operator.
    """
    left = list(names)
    while left:
        last, said = {"sample": left[0], "status": "begun", "said": ""}, ""
        for each in _told(left, dtypes, count, seed, timeout):
            if each["status"] == "over":
                said = each["said"]
                break
            last = each
            if last["status"] not in ("begun", "ended"):
                yield last
                _print_line(last)
        if last["status"] == "ended":
            return
        crashed = {**last, "status": "crashed", "said": said}
        yield crashed
        _print_line(crashed)
        # Of several that were compiled together the last is where it goes on.
        name = last["sample"].split(", ")[-1].split(" ")[0]
        left = left[left.index(name) + 1 :]


def _told(
    names: Sequence[str], dtypes: Sequence[str], count: int, seed: int, timeout: float
) -> Iterator[dict[str, str]]:
    """Yields what one process tells, until it ends or says nothing for too long."""
    asked = json.dumps({"names": names, "dtypes": dtypes, "count": count, "seed": seed})
    command = [sys.executable, "-m", f"{__package__}.worker", asked]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        took_long = threading.Event()

        def stop() -> None:
            took_long.set()
            process.kill()

        timer = threading.Timer(timeout, stop)
        timer.start()
        for line in process.stdout:
            timer.cancel()
            timer = threading.Timer(timeout, stop)
            timer.start()
            if line.startswith("{"):
                yield json.loads(line)
        timer.cancel()
        ended = f"it took more than {timeout:g} s" if took_long.is_set() else ""
        yield {"status": "over", "said": ended or f"exit status {process.wait()}"}


def _print_line(told: dict[str, str]) -> None:
    if told["status"] not in ("right", "random", "unknown"):
        print(f"{told['status']:8} {told['sample']}: {told['said']}", flush=True)


def _print(told: Sequence[dict[str, Any]]) -> None:
    print()
    for status, meaning in _STATUSES.items():
        samples = [each for each in told if each["status"] == status]
        operators = {each["sample"].split(" ")[0] for each in samples}
        print(f"{len(samples):5} samples of {len(operators):3} operators: {status}  {meaning}")
    reasons = Counter(each["said"] for each in told if each["status"] == "refused")
    print("\nthe most frequent refusals:")
    for said, count in reasons.most_common(20):
        print(f"{count:5} {said}")


if __name__ == "__main__":
    sys.exit(main())

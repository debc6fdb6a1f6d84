"""Runs what on_gpu.py built on this machine, and compares it with what was expected.

Needs Python's standard library only, and torch where it calls the library. Prints a line a check;
the exit status is 1 where one is wrong. What needs a tool that is not on this machine is said.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.resolve()
_SECONDS = 60
_AT_ONCE = 4
# What would decide the device of a program in place of a check.
_DECIDING = ("HIRC_DEVICE", "CUDA_DISABLE_PTX_JIT")
_TOOLS = ("/usr/local/cuda/bin",)


def found(word: str) -> str | None:
    """A program of this folder, this Python, or a tool of the machine; None where it is missing."""
    if word == "python":
        return sys.executable
    own = HERE / word
    if own.is_file():
        return str(own)
    return shutil.which(word, path=os.pathsep.join((os.environ.get("PATH", ""), *_TOOLS)))


def absent(case: dict[str, Any]) -> str:
    """Why a check cannot be made, or nothing."""
    if case["absent"]:
        return case["absent"]
    if found(case["command"][0]) is None and case["is_tool"]:
        return f"{case['command'][0]} is not on this machine"
    if "library" in case["command"] and importlib.util.find_spec("torch") is None:
        return "torch is not on this machine"
    return ""


def difference(case: dict[str, Any]) -> str:
    """What is wrong with a run, or nothing."""
    kept = {name: value for name, value in os.environ.items() if name not in _DECIDING}
    word, *arguments = case["command"]
    try:
        done = subprocess.run(
            [found(word) or word, *arguments],
            cwd=HERE,
            env=kept | case["environment"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    output = re.sub(r"base@ = 0x[0-9a-f]+", "base@ = ADDRESS", done.stdout)
    text = output + done.stderr
    end = (done.stderr or output).strip()[-300:]
    if case["fails"] and done.returncode == 0:
        return f"status 0: {end}"
    if not case["fails"] and case["status"] not in (None, done.returncode):
        return f"status {done.returncode}: {end}"
    if case["output"] not in (None, output):
        return f"printed {output[:300]!r} {done.stderr.strip()[:300]}"
    if not re.search(case["shown"], text):
        return f"no {case['shown']!r}: {end}"
    if case["hidden"] and re.search(case["hidden"], text):
        return f"{case['hidden']!r}: {end}"
    return ""


def call_library(device: str) -> None:
    """Calls the library with tensors of a device, where its result has to lie too."""
    sys.path.insert(0, str(HERE))
    torch, hirc = importlib.import_module("torch"), importlib.import_module("hirc")
    library = hirc.load(HERE / "layer.so")
    ones = torch.ones(2, 4, device=device)
    result = library.layer(ones, torch.full((3, 4), 0.5, device=device))
    if device == "cuda":
        torch.cuda.synchronize()
    assert result.device.type == device, result.device
    assert torch.equal(result.cpu(), torch.full((2, 3), 2.0)), result


def check(case: dict[str, Any]) -> tuple[str, str]:
    """A verdict and its reason."""
    if why := absent(case):
        return "absent", why
    wrong = difference(case)
    return ("WRONG", wrong) if wrong else ("right", "")


def main() -> int:
    cases = json.loads((HERE / "cases.json").read_text())
    counts = {"right": 0, "WRONG": 0, "absent": 0}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for case, (verdict, why) in zip(cases, pool.map(check, cases), strict=True):
            counts[verdict] += 1
            print(f"{verdict}  {case['name']}  {' '.join(why.split())}".rstrip(), flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return int(counts["WRONG"] > 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["library"]:
        try:
            call_library(sys.argv[2])
        except (AssertionError, RuntimeError) as error:
            sys.exit(str(error))
    else:
        sys.exit(main())

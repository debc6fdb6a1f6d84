"""Runs what convolutions_on_gpu.py built on this machine's GPU: checks it against f64.

Prints a line for each library and each convolution that is wrong or fails; the exit status is 1
where there is one.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

HERE = Path(__file__).parent.resolve()
sys.path.insert(0, str(HERE))

from drawn_convolutions import SETS, Drawn, drawn_set, is_right  # noqa: E402

import hirc  # noqa: E402

# The second call records a device graph, and the others replay it.
_CALLS = 4


def problem(library: hirc.Library, number: int, each: Drawn) -> str:
    """Returns what is wrong with a convolution, which is called several times."""
    for _ in range(_CALLS):
        inputs = [value.cuda() for value in each.inputs()]
        wanted = each(*(value.double() for value in inputs))
        try:
            got = library[f"c{number}"](*inputs)
        except RuntimeError as error:
            return str(error)
        if not is_right(got, wanted, each.element):
            return "a wrong result"
    return ""


def main() -> int:
    torch.manual_seed(0)
    wrong = 0
    for name in SETS:
        library = hirc.load(HERE / f"{name}.so")
        cases = drawn_set(name)
        found = [problem(library, number, each) for number, each in enumerate(cases)]
        for each, text in zip(cases, found, strict=True):
            if text:
                print(f"  {each}: {text}", flush=True)
        failed = sum(map(bool, found))
        print(f"{name}: {len(cases)} convolutions, {failed} wrong", flush=True)
        wrong += failed
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main())

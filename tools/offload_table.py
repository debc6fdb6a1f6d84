"""The table of docs/offload.md: who finishes a build for which chips and hosts, and its proof.

    python -m hirc.tools.offload_table [--check]

Runs the tests that are marked `proves(consumer, chips, host, how)` and writes the table of those
that passed into the document; what a GPU proved is in RECORDED. Words in braces are a test's
parameters. With --check nothing is run or written: it fails where a cell has no such test, or a
test no cell.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from ..dialects.records import dataclass

_ROOT = Path(__file__).parent.parent
_DOCUMENT = _ROOT / "docs" / "offload.md"
_BEGIN, _END = "<!-- proofs -->\n", "<!-- end of proofs -->\n"

# From the least to the most.
HOW = (
    "form read",
    "code disassembled",
    "linked, registered",
    "run on the CPU device",
    "run on an H200",
)
CHIPS = ("NVIDIA", "NVIDIA, PTX", "CPU device", "AMD")
HOSTS = ("x86-64", "AArch64")
# Why a cell is empty, by consumer and chips; "clang" is each version.
_REFUSED = {
    ("clang", "NVIDIA, PTX"): "refused: clang's link keeps none",
    ("clang", "CPU device"): "hirc links it",
}


@dataclass(frozen=True)
class Proof:
    """That what `consumer` finishes for some chips works on a host, and how that is known."""

    consumer: str
    chips: str
    host: str
    how: str


# Seen on a GPU: docs/results.md, "Run on a GPU".
RECORDED = (
    Proof("hirc", "NVIDIA", "x86-64", "run on an H200"),
    Proof("hirc", "NVIDIA, PTX", "x86-64", "run on an H200"),
    *(Proof(f"clang {version}", "NVIDIA", "x86-64", "run on an H200") for version in (16, 19, 22)),
)


class _Recorder:
    """A pytest plugin that knows what each test would prove, and which tests passed."""

    def __init__(self) -> None:
        self.marked: dict[str, list[Proof]] = {}
        self.passed: list[Proof] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keeps the tests that are marked."""
        for item in items:
            words = dict(getattr(getattr(item, "callspec", None), "params", {}))
            proofs = [
                Proof(*(str(each).format(**words) for each in mark.args))
                for mark in item.iter_markers("proves")
            ]
            if proofs:
                self.marked[item.nodeid] = proofs
        items[:] = [item for item in items if item.nodeid in self.marked]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Takes down what passed."""
        if report.when == "call" and report.passed:
            self.passed += self.marked[report.nodeid]


def table(proofs: Iterable[Proof]) -> str:
    """Returns the table, as Markdown: of each cell the most that is proven."""
    most: dict[tuple[str, str, str], str] = {}
    for proof in proofs:
        cell = proof.consumer, proof.host, proof.chips
        most[cell] = max(proof.how, most.get(cell, HOW[0]), key=HOW.index)
    lines = [f"| finished by | host | {' | '.join(CHIPS)} |", "| --- " * (2 + len(CHIPS)) + "|"]
    consumers = sorted({proof[0] for proof in most}, key=lambda name: (name != "hirc", name))
    for consumer in consumers:
        for host in HOSTS:
            cells = [most.get((consumer, host, chips), _why(consumer, chips)) for chips in CHIPS]
            if any((consumer, host, chips) in most for chips in CHIPS):
                lines.append(f"| {consumer} | {host} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _why(consumer: str, chips: str) -> str:
    return _REFUSED.get((consumer.partition(" ")[0], chips), "not tested")


def _tests() -> list[str]:
    files = sorted((_ROOT / "test").rglob("test_*.py"))
    return [str(path) for path in files if "mark.proves(" in path.read_text()]


def _recorded(*flags: str) -> _Recorder:
    recorder = _Recorder()
    pytest.main(["-q", "-n", "0", f"--rootdir={_ROOT}", *flags, *_tests()], plugins=[recorder])
    return recorder


def missing(text: str, proofs: Sequence[Proof]) -> list[str]:
    """Returns what a table says that no test would prove, and what it lacks of what one would."""
    rows = re.findall(r"^\| (hirc|clang \d+) \| (\S+) \| (.+) \|$", text, re.MULTILINE)
    said = {
        Proof(consumer, chips, host, how)
        for consumer, host, cells in rows
        for chips, how in zip(CHIPS, cells.split(" | "), strict=True)
        if how in HOW
    }
    cells = {(each.consumer, each.chips, each.host) for each in said}
    wrong = [f"no test proves {each}" for each in sorted(said.difference(proofs), key=str)]
    return wrong + [
        f"the table lacks {each}"
        for each in sorted(set(proofs), key=str)
        if (each.consumer, each.chips, each.host) not in cells
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="whether each cell has a test")
    values = parser.parse_args(arguments)
    text = _DOCUMENT.read_text()
    before, _, rest = text.partition(_BEGIN)
    old, _, after = rest.partition(_END)
    if values.check:
        marked = _recorded("--collect-only").marked.values()
        wrong = missing(old, [*RECORDED, *(proof for proofs in marked for proof in proofs)])
        print("\n".join(wrong) or "each cell has a test, and each test a cell")
        return 1 if wrong else 0
    new = table([*RECORDED, *_recorded().passed])
    _DOCUMENT.write_text(f"{before}{_BEGIN}{new}{_END}{after}")
    print(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The table of proofs in docs/offload.md."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hirc.tools.offload_table import Proof, missing, table
from support.environment import ROOT

_TESTED = Proof("clang 16", "NVIDIA", "x86-64", "linked, registered")
_READ = Proof("clang 16", "NVIDIA", "x86-64", "form read")
_OTHER = Proof("hirc", "AMD", "AArch64", "code disassembled")


def test_the_document_says_what_tests_prove() -> None:
    command = [sys.executable, "-m", "hirc.tools.offload_table", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_most_that_is_proven_is_said() -> None:
    assert "| clang 16 | x86-64 | linked, registered |" in table([_READ, _TESTED, _READ])
    assert "| clang 16 | x86-64 | form read |" in table([_READ])


@pytest.mark.parametrize(
    ("said", "proofs", "found"),
    [
        ([_TESTED], [_TESTED, _READ], []),
        ([_TESTED], [_READ], [f"no test proves {_TESTED}"]),
        ([], [_OTHER, _READ], [f"the table lacks {each}" for each in (_READ, _OTHER)]),
    ],
)
def test_a_table_that_is_wrong(said: list[Proof], proofs: list[Proof], found: list[str]) -> None:
    assert missing(table(said), proofs) == found

"""torch is an optional extra: without it the interpreter says what to install."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """\
import sys
import hirc
import hirc.compiler.errors
assert "torch" not in sys.modules
sys.modules["torch"] = None
try:
    hirc.interpret
except hirc.compiler.errors.ToolchainError as error:
    print(error, error.hint)
"""


def test_a_clear_error_names_the_extra() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True
    )
    assert "torch, which cannot be imported" in done.stdout
    assert "pip install 'hirc[torch]'" in done.stdout

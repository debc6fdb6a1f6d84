"""The environment tests run in: this checkout's commands, no CUDA toolkit, one thread for torch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_COMMANDS = ROOT / ".venv" / "bin"
_CACHE = ROOT / "build" / "test" / "cache"
_TOOLKIT_TOOLS = ("nvcc", "ptxas")
_TOOLKIT_VARIABLES = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "HIRC_CUDA_PATH")
# Every command that a test starts would compile hirc's Python again: half of what it takes.
_SLOW = ("PYTHONDONTWRITEBYTECODE",)


def without_toolkit(environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` for a test: the checkout's commands first, folders of CUDA tools left out.

    Support code that hirc compiles is kept apart from the user's own, and compiled once for all
    tests: it takes 15 seconds. Torch's threads wait for each other in loops: where as many tests as
    processors run at once, most of the time would pass in these.
    """
    folders = [
        folder
        for folder in environment.get("PATH", os.defpath).split(os.pathsep)
        if folder and not any((Path(folder) / tool).exists() for tool in _TOOLKIT_TOOLS)
    ]
    left_out = (*_TOOLKIT_VARIABLES, *_SLOW)
    return {
        **{key: value for key, value in environment.items() if key not in left_out},
        "PATH": os.pathsep.join([str(_COMMANDS), *folders]),
        "HIRC_CACHE_DIR": str(_CACHE),
        "OMP_NUM_THREADS": "1",
    }

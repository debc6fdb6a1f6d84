"""The Host IR programs of test/host_ir/programs, with the inputs they are run with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "programs"
_INPUTS = re.compile(r"// inputs: (.*)")


@dataclass(frozen=True)
class HostProgram:
    """A program and, as its command takes them, its inputs."""

    path: Path
    inputs: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def text(self) -> str:
        return self.path.read_text()

    @property
    def flags(self) -> list[str]:
        """The inputs as options of its command."""
        return [f"--input={item}" for item in self.inputs]


def host_programs() -> list[HostProgram]:
    """Every program, by name."""
    found: list[HostProgram] = []
    for path in sorted(FOLDER.glob("*.mlir")):
        match = _INPUTS.match(path.read_text())
        assert match is not None, f"{path}: the first line says `// inputs: ...`"
        found.append(HostProgram(path, tuple(match[1].split())))
    return found

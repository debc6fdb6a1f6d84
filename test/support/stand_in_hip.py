"""A HIP runtime that runs a program's kernels on the CPU device (stand_in_hip.c)."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from hirc.tools.hirc import main

_SOURCE = Path(__file__).parent / "stand_in_hip.c"


class StandInHip:
    """Makes libraries in a folder, each for one program; for this host, or for another."""

    def __init__(self, folder: Path, clang: Path, host: str = "") -> None:
        self._folder = folder
        self._host = [f"--host={host}"] if host else []
        self._object = folder / "stand_in_hip.o"
        flags = ["-std=gnu11", "-O1", "-fPIC", "-fvisibility=hidden"]
        flags += [f"--target={host}"] if host else []
        subprocess.run([clang, *flags, "-c", _SOURCE, "-o", self._object], check=True)

    def library(self, name: str, sources: Sequence[Path], chip: str, *, unlinked: bool) -> Path:
        """Returns a libamdhip64 that knows the kernels of the sources as they are for the chip.

        With `unlinked` they have the names that they have in object files.
        """
        arch = [f"--offload-arch=cpu:{chip}", *self._host]
        inputs = list(sources)
        folder = self._folder / name
        folder.mkdir()
        if unlinked:
            inputs = [folder / f"{source.stem}.o" for source in sources]
            for source, output in zip(sources, inputs, strict=True):
                assert main([str(source), "--emit=object", *arch, "-o", str(output)]) == 0
        output = folder / "libamdhip64.so"
        words = [*map(str, inputs), str(self._object), "--emit=shared", *arch, "-o", str(output)]
        assert main(words) == 0
        return output

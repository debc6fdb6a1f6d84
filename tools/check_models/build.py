"""Builds networks into a folder that needs nothing else on a GPU machine."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..carried_folder import compiler_digest, copy_runner, error_line

# What of this package runs there.
_CARRIED = ("__init__", "catalogue", "compare", "run", "turn", "networks/*")
_SAID_LENGTH = 300


@dataclass(frozen=True)
class Build:
    """Where networks are built to, and how."""

    folder: Path
    words: Sequence[str]
    tiny: bool
    dtype: str | None
    batch: int | None
    files: tuple[Path, ...]
    timeout: float
    jobs: int = 1

    def run(self, parts: str) -> dict[str, str]:
        """Builds those with these parts in their names. Returns which failed, with why."""
        # Imported late: torch takes seconds to load.
        from .catalogue import chosen

        copy_runner(self.folder, "check_models", _CARRIED)
        files = {file.stem: file for file in self.files}
        with ThreadPoolExecutor(self.jobs) as pool:
            names = [network.name for network in chosen(parts, self.files)]
            errors = pool.map(self._kept_or_built, names, map(files.get, names))
            return {name: error for name, error in zip(names, errors, strict=True) if error}

    def _kept_or_built(self, name: str, file: Path | None) -> str:
        """Builds a network, unless it is there. Returns why it failed, or ''."""
        known = self.folder / f"{name}.json"
        asked = self.asked(name, file)
        if known.exists() and is_built(json.loads(known.read_text()), asked):
            return ""
        # An earlier run's result is of what was built then.
        (self.folder / f"{name}.result").unlink(missing_ok=True)
        description = self._built(name, asked, file)
        known.write_text(json.dumps(description, indent=1))
        error = description.get("error", "")
        seconds = ", ".join(f"{k} {v:.1f} s" for k, v in description["seconds"].items())
        print(f"{name}: {'failed' if error else 'built'}, {seconds}", flush=True)
        return error

    def asked(self, name: str, file: Path | None) -> dict[str, Any]:
        """Returns what a network is built of, and how."""
        asked: dict[str, Any] = {
            "name": name,
            "tiny": self.tiny,
            "dtype": self.dtype,
            "batch": self.batch,
            "device": "cpu" if "--offload-arch=cpu" in self.words else "cuda",
            "words": list(self.words),
            "compiler": compiler_digest(),
        }
        if file is not None:
            asked["file"] = f"{name}.model.py"
            asked["digest"] = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
        return asked

    def _built(self, name: str, asked: dict[str, Any], file: Path | None) -> dict[str, Any]:
        """Returns what the folder says of a network, once it is built as far as it can be."""
        description: dict[str, Any] = {**asked, "seconds": {}}
        if file is not None:
            shutil.copy(file, self.folder / f"{name}.model.py")
        request = self.folder / f"{name}.asked.json"
        request.write_text(json.dumps(description))
        source, library = self.folder / f"{name}.mlir", self.folder / f"{name}.so"
        for step, command in (
            ("import", ["hirc.tools.check_models.import_network", str(request), str(source)]),
            ("hirc", ["hirc.tools.hirc", str(source), "-o", str(library), "--emit=shared"]),
        ):
            start = time.perf_counter()
            error = self._error([*command, *(self.words if step == "hirc" else ())])
            description["seconds"][step] = time.perf_counter() - start
            if error:
                description["error"] = f"{step}: {error}"
                return description
        description["arguments"] = json.loads(source.with_suffix(".arguments.json").read_text())
        return description

    def _error(self, command: Sequence[str]) -> str:
        """Why a step failed; '' where it did not."""
        try:
            done = subprocess.run(
                [sys.executable, "-m", *command],
                capture_output=True,
                text=True,
                timeout=self.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"not done after {self.timeout:g} s"
        if done.returncode == 0:
            return ""
        said = error_line(done.stderr)
        if done.returncode < 0:
            said = f"ended by signal {-done.returncode} {said}"
        return said[:_SAID_LENGTH]


def is_built(known: dict[str, Any], asked: dict[str, Any]) -> bool:
    """Returns whether a network that a folder has is the one asked for, by the same compiler."""
    return not known.get("error") and all(known.get(key) == asked[key] for key in asked)

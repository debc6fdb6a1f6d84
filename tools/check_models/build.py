"""Builds networks into a folder that needs nothing else on a GPU machine."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent.parent
# What of hirc goes along: the loader, and the part of this package that runs there.
_CARRIED = (
    "__init__.py",
    "compiler/__init__.py",
    "compiler/errors.py",
    "compiler/loader*.py",
    "tools/__init__.py",
    *(f"tools/check_models/{name}.py" for name in ("__init__", "catalogue", "compare", "run")),
    "tools/check_models/networks/*.py",
)
_RUN = '''\
"""Runs the networks on this machine: python3 run.py --help."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from hirc.tools.check_models.run import main  # noqa: E402

sys.exit(main(FOLDER))
'''
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

    def run(self, parts: str) -> dict[str, str]:
        """Builds those with these parts in their names. Returns which failed, with why."""
        # Imported late: torch takes seconds to load.
        from .catalogue import chosen

        self.folder.mkdir(parents=True, exist_ok=True)
        for pattern in _CARRIED:
            for path in _ROOT.glob(pattern):
                target = self.folder / "hirc" / path.relative_to(_ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
        (self.folder / "run.py").write_text(_RUN)
        files = {file.stem: file for file in self.files}
        failed: dict[str, str] = {}
        for network in chosen(parts, self.files):
            known = self.folder / f"{network.name}.json"
            if known.exists() and not json.loads(known.read_text()).get("error"):
                continue
            description = self._built(network.name, files.get(network.name))
            known.write_text(json.dumps(description, indent=1))
            error = description.get("error")
            seconds = ", ".join(f"{k} {v:.1f} s" for k, v in description["seconds"].items())
            print(f"{network.name}: {'failed' if error else 'built'}, {seconds}", flush=True)
            if error:
                failed[network.name] = error
        return failed

    def _built(self, name: str, file: Path | None) -> dict[str, Any]:
        """What the folder says of a network, once it is built as far as it can be."""
        description: dict[str, Any] = {
            "name": name,
            "tiny": self.tiny,
            "dtype": self.dtype,
            "batch": self.batch,
            "device": "cpu" if "--offload-arch=cpu" in self.words else "cuda",
            "seconds": {},
        }
        if file is not None:
            shutil.copy(file, self.folder / f"{name}.model.py")
            description["file"] = f"{name}.model.py"
        asked = self.folder / f"{name}.asked.json"
        asked.write_text(json.dumps(description))
        source, library = self.folder / f"{name}.mlir", self.folder / f"{name}.so"
        for step, command in (
            ("import", ["hirc.tools.check_models.import_network", str(asked), str(source)]),
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
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
        said = next((line for line in lines if "error:" in line), lines[-1] if lines else "")
        if done.returncode < 0:
            said = f"ended by signal {-done.returncode} {said}"
        return said.strip()[:_SAID_LENGTH]

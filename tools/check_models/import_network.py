"""Imports one network, in a process of its own: torch-mlir may crash.

`python -m hirc.tools.check_models.import_network ASKED.json NAME.mlir`
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from ...compiler.errors import HircError, UnsupportedError
from ...compiler.rendering import render
from ...frontends.torch.import_model import ImportedModel, import_model
from .catalogue import described, made


def _imported(asked: Path) -> ImportedModel:
    """The network, imported from tensors without elements where it asks for none.

    It does where it decides by them, or holds constants.
    """
    network, tiny = described(json.loads(asked.read_text()), asked.parent)
    try:
        with FakeTensorMode():
            imported = import_model(*made(network, tiny=tiny))
        if not imported.constants:
            return imported
    except (UnsupportedError, RuntimeError):
        pass
    return import_model(*made(network, tiny=tiny))


def main(asked: Path, source: Path) -> int:
    """Imports. Returns the exit status."""
    try:
        imported = _imported(asked)
    except HircError as error:
        print(render(error), file=sys.stderr)
        return 1
    source.write_text(imported.text)
    source.with_suffix(".arguments.json").write_text(json.dumps(imported.arguments))
    torch.save(imported.constants, source.with_suffix(".constants.pt"))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))

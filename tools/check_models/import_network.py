"""Imports one network, in a process of its own: torch-mlir may crash.

`python -m hirc.tools.check_models.import_network ASKED.json NAME.mlir`
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from ...compiler.errors import HircError, UnsupportedError
from ...compiler.rendering import render
from ...frontends.torch.import_model import ImportedModel, import_model
from .catalogue import described, made


def _imported(asked: Path) -> tuple[ImportedModel, dict[str, Tensor]]:
    """Returns the network, and what it holds that is no parameter or buffer.

    It is imported from tensors without elements, but where it decides by them, or holds constants.
    """
    description = json.loads(asked.read_text())
    open_sizes = described(description, asked.parent).open_sizes
    shapes = None if open_sizes is None else open_sizes(description["tiny"])
    try:
        with FakeTensorMode():
            model, inputs = made(description, asked.parent)
        imported = import_model(model, inputs, dynamic_shapes=shapes)
        if not _constants(model, imported):
            return imported, {}
    except (UnsupportedError, RuntimeError):
        pass
    model, inputs = made(description, asked.parent)
    imported = import_model(model, inputs, dynamic_shapes=shapes)
    return imported, _constants(model, imported)


def _constants(model: nn.Module, imported: ImportedModel) -> dict[str, Tensor]:
    named = (*model.named_parameters(remove_duplicate=False), *model.named_buffers())
    known = {name for name, _ in named}
    return {name: value for name, value in imported.weights.items() if name not in known}


def main(asked: Path, source: Path) -> int:
    """Imports. Returns the exit status."""
    try:
        imported, constants = _imported(asked)
    except HircError as error:
        print(render(error), file=sys.stderr)
        return 1
    source.write_text(imported.text)
    source.with_suffix(".arguments.json").write_text(json.dumps(imported.arguments))
    torch.save(constants, source.with_suffix(".constants.pt"))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))

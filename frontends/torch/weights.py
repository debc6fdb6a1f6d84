"""What a model holds, by name: its parameters, its buffers and its constants."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, TensorArgument
from torch.fx import Node

from ...compiler.errors import HircError, UnsupportedError
from ...compiler.safetensors import Tensor as SavedTensor
from ...compiler.safetensors import TensorFile
from ...dialects.hir.element_types import ELEMENT_TYPES
from .changes import changed_names
from .fake_values import has_no_elements
from .user_errors import first_line

# What the safetensors format calls torch's element types.
_DTYPES: dict[torch.dtype, str] = {
    getattr(torch, element.torch): element.safetensors
    for element in ELEMENT_TYPES.values()
    if element.safetensors is not None
}
# Constants of at most so many elements are part of the program, with their values.
_MOST_ELEMENTS = 64
_HELD = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


def take_weights(
    program: ExportedProgram, plain: frozenset[str]
) -> tuple[dict[str, Tensor], dict[str, tuple[str, ...]]]:
    """Makes inputs of all that a program holds and uses, in the order of its placeholders.

    Returns the tensors by name, and for each the other names that share its memory: what is tied is
    one weight, by its first name. What is neither used nor changed is dropped; small constants,
    which `plain` buffers are too, stay.
    """
    changed = changed_names(program)
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    weights: dict[str, Tensor] = {}
    others: dict[str, list[str]] = {}
    first: dict[Any, tuple[str, Node]] = {}
    kept: list[InputSpec] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind not in _HELD or not isinstance(spec.arg, TensorArgument):
            kept.append(spec)
            continue
        assert spec.target is not None
        node, value = nodes[spec.arg.name], _value(program, spec.target)
        is_plain = spec.kind is InputKind.CONSTANT_TENSOR or spec.target in plain
        is_plain = is_plain and spec.target not in changed
        with _reading(spec.target):
            small = value.cpu() if is_plain and _is_small(value) else None
            memory, held = _memory(value, spec.target), value.detach()
        if small is not None:
            program.constants[spec.target] = small
            spec.kind, spec.persistent = InputKind.CONSTANT_TENSOR, None
            kept.append(spec)
            continue
        name, other = first.setdefault(memory, (spec.target, node))
        others.setdefault(name, [])
        if other is not node:
            others[name].append(spec.target)
            node.replace_all_uses_with(other)
            program.graph.erase_node(node)
            continue
        weights[spec.target] = held
        spec.kind = InputKind.USER_INPUT
        kept.append(spec)
    unused = {
        spec.arg.name
        for spec in kept
        if spec.target in weights and spec.target not in changed and not nodes[spec.arg.name].users
    }
    for spec in [each for each in kept if each.arg.name in unused]:
        assert spec.target is not None
        program.graph.erase_node(nodes[spec.arg.name])
        del weights[spec.target], others[spec.target]
        kept.remove(spec)
    # Weights come after what the caller passes.
    kept.sort(key=lambda spec: spec.target in weights)
    program.graph_signature.input_specs[:] = kept
    return weights, {name: tuple(names) for name, names in others.items() if names}


@contextmanager
def _reading(name: str) -> Generator[None]:
    """Makes an error about a weight of whatever torch, or a subclass of its tensors, raises in the
    block.
    """
    try:
        yield
    except (HircError, MemoryError):
        raise
    except Exception as error:
        raise UnsupportedError(
            f"the values of weight '{name}' cannot be read: {type(error).__name__}: "
            f"{first_line(error)}",
            stage="import",
            hint="weights are tensors with memory of their own, in rows of elements",
        ) from error


def _value(program: ExportedProgram, name: str) -> Tensor:
    held: Mapping[str, Any] = program.state_dict
    constants: Mapping[str, Any] = program.constants
    found: Any = held[name] if name in held else constants[name]
    return found


def _is_small(value: Tensor) -> bool:
    return value.numel() <= _MOST_ELEMENTS and not has_no_elements(value)


def _memory(value: Tensor, name: str) -> Any:
    """Returns what two tensors have in common that are one; a name where they have no memory."""
    if not value.numel():
        return name
    # Fake tensors have storages too, of no bytes.
    storage: Any = value.untyped_storage()
    return storage._cdata, value.storage_offset(), value.shape, value.stride(), value.dtype


def tensor_file(
    path: Path,
    weights: Mapping[str, Tensor],
    aliases: Mapping[str, tuple[str, ...]],
    parameters: frozenset[str],
) -> TensorFile | None:
    """Returns the weights that have elements, as those of a file; None where none has.

    Their memory is the tensors' own, but of those that are not packed in the host's memory.
    """
    values = {
        name: SavedTensor(_dtype(name, value), tuple(value.shape), _bytes(name, value))
        for name, value in weights.items()
        if not has_no_elements(value)
    }
    tied = {alias: name for name, names in aliases.items() for alias in names}
    return TensorFile(path, values, tied, parameters) if values else None


def _dtype(name: str, value: Tensor) -> str:
    if value.dtype not in _DTYPES:
        raise UnsupportedError(f"weight '{name}' is of {value.dtype}, which weights cannot be")
    return _DTYPES[value.dtype]


def _bytes(name: str, value: Tensor) -> memoryview:
    with _reading(name):
        packed = value.detach().contiguous().cpu()
        array: Any = packed.reshape(-1).view(torch.uint8).numpy()
        return memoryview(array)

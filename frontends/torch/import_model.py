"""A torch module as a function on tensors, its weights among the arguments."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import FxImporter

from ...compiler.errors import UnsupportedError
from ...dialects.mlir import ir, passmanager
from .decompositions import decompositions
from .tidying import tidy

_PIPELINE = (
    "builtin.module(func.func(torch-match-quantized-custom-ops),"
    "torchdynamo-export-to-torch-backend-pipeline{extra-library=},"
    "torch-backend-to-linalg-on-tensors-backend-pipeline)"
)


@dataclass(frozen=True)
class ImportedModel:
    """The text of a module with one function, and what its arguments are.

    An argument is the path of a parameter, a buffer or one of `constants`, or the number of an
    input among the leaves of what the model is called with.
    """

    text: str
    arguments: tuple[str | int, ...]
    constants: dict[str, Tensor]


def import_model(
    model: nn.Module,
    inputs: tuple[Any, ...],
    *,
    name: str = "main",
    dynamic_shapes: Any = None,
) -> ImportedModel:
    """Imports a model as it computes these inputs; numbers among them are taken as they are.

    Raises UnsupportedError where torch cannot export it, or torch-mlir cannot lower it.
    """
    with warnings.catch_warnings():
        # torch and torch-mlir warn of their own parts.
        warnings.simplefilter("ignore")
        program = _exported(model, inputs, dynamic_shapes)
        arguments = _make_arguments(program)
        module = _lowered(program, name)
    tidy(module.operation)
    known = {name for name, _ in (*model.named_parameters(), *model.named_buffers())}
    constants = {
        path: value
        for path, value in program.constants.items()
        if isinstance(value, Tensor) and path not in known and path in arguments
    }
    return ImportedModel(str(module), arguments, constants)


def _exported(model: nn.Module, inputs: tuple[Any, ...], dynamic_shapes: Any) -> ExportedProgram:
    try:
        with torch.no_grad():
            program = torch.export.export(
                model, inputs, dynamic_shapes=dynamic_shapes, strict=False
            )
            return program.run_decompositions(decompositions())
    except Exception as error:
        raise UnsupportedError(f"torch cannot export the model: {_said(error)}") from error


def _make_arguments(program: ExportedProgram) -> tuple[str | int, ...]:
    """Makes inputs of all that the program holds; returns what each argument is."""
    for spec in program.graph_signature.output_specs:
        if spec.kind != OutputKind.USER_OUTPUT:
            raise UnsupportedError(
                f"the model changes '{spec.target}'",
                hint="give what changes as an input, and return what it becomes",
            )
    arguments: list[str | int] = []
    number = 0
    for spec in program.graph_signature.input_specs:
        if spec.kind != InputKind.USER_INPUT:
            assert spec.target is not None
            arguments.append(spec.target)
            spec.kind = InputKind.USER_INPUT
            continue
        if not isinstance(spec.arg, ConstantArgument):
            arguments.append(number)
        number += 1
    return tuple(arguments)


def _lowered(program: ExportedProgram, name: str) -> ir.Module:
    context = ir.Context()
    context.enable_multithreading(False)
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context)
    try:
        importer.import_program(program, func_name=name)
        with context:
            passmanager.PassManager.parse(_PIPELINE).run(importer.module_op)
    except ir.MLIRError as error:
        # What follows the first colon is the operation's text.
        why = error.error_diagnostics[0].message.partition(": ")[0]
        raise UnsupportedError(f"torch-mlir cannot lower the model: {why}") from error
    except Exception as error:
        raise UnsupportedError(f"torch-mlir cannot import the model: {_said(error)}") from error
    return importer.module


def _said(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__

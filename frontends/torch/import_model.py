"""A torch module, function or exported program as a function on tensors, its weights arguments."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from pathlib import Path
from typing import Any

import torch
import torch.fx.proxy
from torch import Tensor, nn
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.export import ExportedProgram
from torch.export.graph_signature import (
    ConstantArgument,
    InputKind,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
)
from torch.fx import Node as FxNode
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import FxImporter

from ...compiler import activity
from ...compiler.collection import seldom_collected
from ...compiler.errors import HircError, InputError, Position, UnsupportedError
from ...compiler.session import Session
from ...compiler.sharding import Sharding
from ...compiler.source import Source
from ...dialects.mlir import ir, load_named_dialects, passmanager
from ...pipelines.updates import UPDATES
from ...pipelines.weights import MARK, STATE_MARK, ZERO_MARK
from .attention import flexible_attention_as_products
from .attributes import Assignments, as_buffers
from .batch_norm import batch_norms_as_operators
from .branch_operands import operands_apart
from .calling import Description, bind, constant, describe, leaf_paths
from .changes import Changes, change_of, find_changes
from .custom_operators import custom_decompositions
from .decompositions import decompositions
from .definitions import define_functions, keep_bodies
from .degenerate import fill_what_is_empty
from .dynamic_shapes import DynamicShapes, dynamic_shapes_of, keywords_by_name
from .example_sizes import with_larger_sizes
from .export_guards import made_of, without_needless_guards
from .fake_values import apart, without_elements
from .functions import ReplacedFunctions
from .generators import keep_generator
from .gradients import exported
from .graph_code import late_code
from .graph_importer import GraphImporter
from .integers import operands_of_one_type
from .placements import declare_placements
from .recurrent import recurrent_decompositions
from .refusals import nodes_of, refuse
from .registrations import quick_registrations
from .size_checks import check_sizes
from .size_guards import size_guards
from .size_numbers import fractions_as_tensors, numbers_as_operations
from .sizes import Sizes, dims_of_inputs, functions_of_sizes, known_sizes, sizes_for_strides
from .tidying import locate, tidy
from .torch_log import told_by_torch
from .unsigned import without_unsigned
from .user_errors import (
    SPLIT,
    decomposing_error,
    export_error,
    first_line,
    fixed_sizes,
    lowering_error,
    stack_position,
    user_frames,
)
from .weights import take_weights, tensor_file

# torch-backend-to-linalg-on-tensors-backend-pipeline, but for the verifier, which takes no calls.
_PIPELINE = (
    "builtin.module(func.func(torch-match-quantized-custom-ops),"
    "torchdynamo-export-to-torch-backend-pipeline{extra-library=},"
    "func.func(convert-torch-to-tmtensor,canonicalize,convert-torch-to-linalg,canonicalize,"
    "convert-torch-to-scf,convert-torch-to-arith,convert-torch-to-tensor),"
    "convert-torch-conversion-to-mlprogram,"
    "func.func(memref-expand,canonicalize,resolve-shaped-type-result-dims,cse),"
    "torch-func-backend-type-conversion,"
    "func.func(canonicalize,torch-finalizing-backend-type-conversion))"
)


@dataclass(frozen=True)
class ImportedModel:
    """A module with one function, and what its arguments are.

    `bytecode` is the module's. An argument is the name of a weight, or the number of an input among
    the leaves of what the model is called with. `aliases` are further names of weights, and
    `parameters` the names of those that are the model's parameters.
    """

    bytecode: bytes
    arguments: tuple[str | int, ...]
    weights: dict[str, Tensor] = field(repr=False)
    aliases: Mapping[str, tuple[str, ...]]
    parameters: frozenset[str] = field(repr=False)
    calling: Description = field(repr=False)

    def source(self, name: str) -> Source:
        """Returns what the compiler takes, called `name` in messages."""
        values = tensor_file(Path(name), self.weights, self.aliases, self.parameters)
        return Source(name, self.bytecode, is_made=True, weights=values)

    @property
    def text(self) -> str:
        """The module as text."""
        context = ir.Context()
        context.allow_unregistered_dialects = True
        load_named_dialects(self.bytecode, context)
        return str(ir.Module.parse(self.bytecode, context)) + "\n"


@seldom_collected()
def import_model(
    model: nn.Module | Callable[..., Any] | ExportedProgram,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    name: str = "main",
    dynamic_shapes: Any = None,
    sharding: Sharding | None = None,
) -> ImportedModel:
    """Imports a model as it computes these inputs; numbers among them are taken as they are.

    With `sharding` the function is one over a mesh: the inputs here are the wholes.

    Raises InputError where it cannot be called so, and UnsupportedError where torch cannot export
    it, or torch-mlir cannot lower it.
    """
    activity.enter("import", "torch.export")
    with told_by_torch(), unset_fake_temporarily(), late_code():
        if isinstance(model, ExportedProgram):
            return _imported(model, None, None, name, frozenset(), sharding)
        module = model if isinstance(model, nn.Module) else _Function(model)
        signature, args, kwargs = _bound(module, args, dict(kwargs or {}))
        shapes = dynamic_shapes_of(module, signature, dynamic_shapes, args, kwargs)
        args, kwargs = apart(module, with_larger_sizes(args, kwargs, shapes))
        with (
            as_buffers(module) as plain,
            without_elements(module, (args, kwargs)) as (given, named),
        ):
            assignments = Assignments(module)
            by_name = None if shapes is None else shapes.by_name
            export = partial(_exported, module, given, named, by_name, assignments)
            with assignments.watched():
                program = export()
            assignments.check(program, export)
            return _imported(program, signature, shapes, name, plain, sharding)


class _Function(nn.Module):
    """A function, for what takes modules."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()

        # torch remembers the lines of functions of this name, and after 2.11 of what it is told.
        register = getattr(torch.fx.proxy, "_register_stack_trace_anchor", None)
        if register is not None:
            register(inspect.unwrap(function))

        @wraps(function)
        def forward(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        try:
            inspect.signature(forward)
        except ValueError:
            # A built-in function that does not say what it takes: it takes anything.
            del forward.__wrapped__
        self.forward = forward


def _bound(
    module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[inspect.Signature, tuple[Any, ...], dict[str, Any]]:
    try:
        return bind(module.forward, args, kwargs)
    except TypeError as error:
        what = f"{type(module).__name__}.forward"
        if isinstance(module, _Function):
            what = getattr(module.forward, "__name__", "the function")
        raise InputError(
            f"{what} cannot be called with these inputs: {error}", stage="import"
        ) from None


def _exported(
    model: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    dynamic_shapes: Any,
    assignments: Assignments,
) -> ExportedProgram:
    said, fixed = io.StringIO(), list[Position]()
    try:
        # torch prints the graph that it has where it fails.
        with (
            torch.no_grad(),
            made_of(recurrent_decompositions()),
            quick_registrations(),
            without_needless_guards(),
            keywords_by_name(),
            ReplacedFunctions(lambda: assignments.stand_ins),
            fixed_sizes() as fixed,
            contextlib.redirect_stderr(said),
        ):
            return exported(model, args, kwargs, dynamic_shapes)
    except HircError:
        raise
    except Exception as error:
        graph = str(getattr(error, "partial_fx_graph", ""))
        said = io.StringIO(said.getvalue().replace(graph, "").rstrip("\n"))
        raise export_error(error, fixed) from error
    finally:
        sys.stderr.write(said.getvalue())


def _imported(
    program: ExportedProgram,
    signature: inspect.Signature | None,
    dynamic_shapes: DynamicShapes | None,
    name: str,
    plain: frozenset[str],
    sharding: Sharding | None,
) -> ImportedModel:
    """Imports what was exported; `plain` are buffers that are not registered as such."""
    # What decompositions ask besides has the same answer for all sizes.
    guards = size_guards(program)
    before = dims_of_inputs(program)
    program = _decomposed(program)
    after = dims_of_inputs(program)
    for name_and_axis, is_open in before.items():
        if is_open and not after.get(name_and_axis, True):
            raise UnsupportedError(
                "the size of dim {1} of the input '{0}' is open, and what an operator is made of "
                "asks for the number".format(*name_and_axis),
                stage="import",
                hint="leave the size out of dynamic_shapes, or let the operator's kernel keep it "
                "open",
            )
    keep_generator(program)
    refuse(program)
    sizes = Sizes(program, dynamic_shapes)
    parameters = frozenset(program.graph_signature.parameters)
    weights, aliases = take_weights(program, plain)
    unsigned = without_unsigned(program)
    given, gives = program.call_spec
    signatures = program.module_call_graph[0].signature
    assert given is not None
    assert gives is not None
    inputs, arguments, names = _inputs(program, weights)
    outputs, changed = _outputs(program, sizes)
    changes = find_changes(program, changed, arguments, names, weights, aliases)
    description = describe(
        given,
        inputs,
        gives,
        outputs,
        signature,
        signatures and signatures.forward_arg_names,
        sizes.limits,
        sizes.places,
    )
    for node in nodes_of(program):
        if node.meta.get("stack_trace"):
            node.meta["stack_trace"] = user_frames(node.meta["stack_trace"])
    module = _lowered(program, name)
    tidy(module.operation)
    check_sizes(module.operation, sizes, guards)
    locate(module.operation)
    results = leaf_paths(description.data["outputs"])
    held = [name for name, each in zip(names, arguments, strict=True) if isinstance(each, str)]
    _describe_function(module, names, held, results, changes, description, sizes)
    made = [spec.arg.name for spec in program.graph_signature.output_specs]
    named = [*program.graph_signature.input_specs]
    kept = {spec.target for spec in named if spec.arg.name in unsigned}
    passed = [
        name in (unsigned if isinstance(each, int) else kept)
        for name, each in zip(names, arguments, strict=True)
    ]
    _mark_unsigned(module, "arg_attrs", passed)
    _mark_unsigned(module, "res_attrs", [name in unsigned for name in made])
    if sharding is not None:
        declare_placements(_function(module), sharding, aliases, program.state_dict)
    valued = {name: value for name, value in weights.items() if name not in changes.zeros}
    return ImportedModel(_bytecode(module), arguments, valued, aliases, parameters, description)


def _decomposed(program: ExportedProgram) -> ExportedProgram:
    aten = torch.ops.aten
    nodes = [node for node in program.graph.nodes if node.op == "call_function"]
    has_attention = any(node.target is aten.scaled_dot_product_attention.default for node in nodes)
    # The result of attention lies in memory as torch's kernels write it, and what it is made of may
    # lie in another way: what is a view of the one is a reshape of the other.
    views = [node for node in nodes if has_attention and node.target is aten.view.default]
    fractions_as_tensors(program)
    flexible_attention_as_products(program)
    operands_apart(program)
    try:
        for node in views:
            node.target = aten.reshape.default
        with (
            torch.no_grad(),
            quick_registrations(),
            without_needless_guards(),
            batch_norms_as_operators(program),
        ):
            known = {**decompositions(), **custom_decompositions(program)}
            program = program.run_decompositions(known)
            # Decompositions add arithmetic with sizes.
            fractions_as_tensors(program, with_quotients=False)
    except HircError as error:
        # What torch runs the program with says on top at which of its operations.
        said = str(error.args[0]) if error.args else ""
        error.position = error.position or stack_position(said)
        raise
    except Exception as error:
        raise decomposing_error(error) from error
    finally:
        for node in views:
            node.target = aten.view.default
    for node in [*nodes_of(program)]:
        # It held of the tensors that the model was exported with.
        if node.target is aten._assert_tensor_metadata.default:
            node.graph.erase_node(node)
    sizes_for_strides(program)
    numbers_as_operations(program)
    functions_of_sizes(program)
    known_sizes(program)
    fill_what_is_empty(program)
    operands_of_one_type(program)
    return program


def _inputs(
    program: ExportedProgram, weights: Mapping[str, Tensor]
) -> tuple[list[dict[str, Any]], tuple[str | int, ...], list[str]]:
    """The leaves of what the model is called with; what each argument is; the arguments' names.

    The program's inputs are numbered without the weights.
    """
    leaves: list[dict[str, Any]] = []
    arguments: list[str | int] = []
    names: list[str] = []
    count = 0
    for spec in program.graph_signature.input_specs:
        if spec.target is not None and spec.target in weights:
            arguments.append(spec.target)
            names.append(spec.target)
            continue
        if spec.kind != InputKind.USER_INPUT:
            continue
        if isinstance(spec.arg, ConstantArgument):
            leaves.append(dict(constant(spec.arg.value)))
            continue
        if not isinstance(spec.arg, (TensorArgument, SymIntArgument)):
            kind = type(spec.arg).__name__.removesuffix("Argument")
            raise UnsupportedError(
                f"the input '{spec.arg.name}' is a {kind}, neither a tensor nor a whole number",
                stage="import",
                hint="pass it as a tensor without dims, or leave it out of dynamic_shapes",
            )
        arguments.append(len(leaves))
        names.append(spec.arg.name)
        leaves.append({"tensor" if isinstance(spec.arg, TensorArgument) else "number": count})
        count += 1
    return leaves, tuple(arguments), names


def _outputs(
    program: ExportedProgram, sizes: Sizes
) -> tuple[list[dict[str, Any]], list[tuple[OutputKind, str]]]:
    """The leaves of what the model gives, and the kinds and names of what it changes.

    Takes all but tensors out of the program's outputs; what is changed comes last there.
    """
    signature, leaves = program.graph_signature, list[dict[str, Any]]()
    given: list[tuple[OutputSpec, Any]] = []
    changed: list[tuple[OutputSpec, Any]] = []
    changes: list[tuple[OutputKind, str]] = []
    (output,) = (node for node in program.graph.nodes if node.op == "output")
    assert isinstance(output.args[0], (tuple, list))
    for spec, value in zip(signature.output_specs, output.args[0], strict=True):
        change = change_of(spec)
        if change is not None:
            changes.append(change)
            changed.append((replace(spec, kind=OutputKind.USER_OUTPUT, target=None), value))
        elif isinstance(spec.arg, TensorArgument):
            leaves.append({"tensor": len(given)})
            given.append((spec, value))
        elif isinstance(spec.arg, SymIntArgument):
            assert isinstance(value, FxNode)
            leaves.append(sizes.node_of(value))
        elif isinstance(spec.arg, ConstantArgument):
            leaves.append(dict(constant(spec.arg.value)))
        else:
            raise UnsupportedError(
                f"the model gives a {type(spec.arg).__name__.removesuffix('Argument')}, which is "
                "no tensor and no whole number",
                stage="import",
                hint="return a tensor",
            )
    kept = [*given, *changed]
    if not kept:
        raise InputError("the model gives no tensor: there is nothing to compute", stage="import")
    output.args = (tuple(value for _, value in kept),)
    signature.output_specs[:] = [spec for spec, _ in kept]
    program.graph.eliminate_dead_code()
    program.graph_module.recompile()
    return leaves, changes


def _lowered(program: ExportedProgram, name: str) -> ir.Module:
    session = Session()
    torch_dialect.register_dialect(session.context)
    importer = FxImporter(context=session.context, graph_node_importer_cls=GraphImporter)
    try:
        activity.enter("import", "torch-mlir's importer")
        importer.import_program(program, func_name=name)
        keep_bodies(importer.module_op)
        activity.enter("import", "torch-mlir's lowering")
        with session.context:
            passmanager.PassManager.parse(_PIPELINE).run(importer.module_op)
            define_functions(importer.module_op, name)
    except HircError:
        raise
    except ir.MLIRError as error:
        raise lowering_error(session.take_diagnostics(), importer.module_op) from error
    except Exception as error:
        # The importer's message goes on with the node, which is long and has the program's lines.
        said = first_line(error).partition(", {")[0]
        raise UnsupportedError(
            f"torch-mlir cannot import the model: {said}",
            position=stack_position(str(error).replace("\\n", "\n")),
            stage="import",
            hint=SPLIT,
        ) from error
    return importer.module


def _function(module: ir.Module) -> ir.Operation:
    (function,) = (op.operation for op in module.body if op.operation.name == "func.func")
    return function


def _describe_function(
    module: ir.Module,
    names: list[str],
    held: Sequence[str],
    results: Mapping[int, str],
    changes: Changes,
    description: Description,
    sizes: Sizes,
) -> None:
    """Names the function's inputs and outputs, and says how it is called."""
    function = _function(module)
    taken: set[str] = set()

    def named(name: str) -> dict[str, ir.Attribute]:
        while name in taken:
            name += "_"
        taken.add(name)
        return {"hir.name": ir.StringAttr.get(name)}

    with module.context:
        inputs: list[ir.DictAttr] = []
        arguments = function.regions[0].blocks[0].arguments
        # What the model holds comes after what the caller passes.
        first_held = len(names) - len(held)
        for place, (name, argument) in enumerate(zip(names, arguments, strict=True)):
            if place >= first_held:
                mark = STATE_MARK if place in changes.updated else MARK
                said: dict[str, ir.Attribute] = {mark: ir.StringAttr.get(name)}
                if name in changes.zeros:
                    said[ZERO_MARK] = ir.UnitAttr.get()
            else:
                said = named(_identifier(name))
                if name in sizes.names:
                    said["hir.sizes"] = _size_names(argument.type, sizes.names[name])
            inputs.append(ir.DictAttr.get(said))
        outputs = [
            ir.DictAttr.get(named(_output_name(path, place)))
            for place, path in sorted(results.items())
        ]
        i64 = ir.IntegerType.get_signless(64)
        outputs += [
            ir.DictAttr.get({UPDATES: ir.IntegerAttr.get(i64, place)}) for place in changes.updated
        ]
        function.attributes["arg_attrs"] = ir.ArrayAttr.get([*inputs])
        function.attributes["res_attrs"] = ir.ArrayAttr.get([*outputs])
        function.attributes["hir.calling"] = ir.StringAttr.get(json.dumps(description.data))


def _mark_unsigned(module: ir.Module, attribute: str, which: Sequence[bool]) -> None:
    """Says which of the function's inputs or outputs callers have without a sign."""
    function = _function(module)
    described: list[ir.DictAttr] = []
    with module.context:
        given = ir.ArrayAttr(function.attributes[attribute])
        for each, is_unsigned in zip(given, which, strict=True):
            said = {entry.name: entry.attr for entry in ir.DictAttr(each)}
            # What is written to an input has no name. A weight has the bits alone.
            if is_unsigned and ("hir.name" in said or STATE_MARK in said):
                said["hir.unsigned"] = ir.UnitAttr.get()
            described.append(ir.DictAttr.get(said))
        function.attributes[attribute] = ir.ArrayAttr.get([*described])


def _size_names(kind: ir.Type, names: Mapping[int, str]) -> ir.ArrayAttr:
    """`sizes` of an input: names of the open ones, and numbers."""
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get(
        [
            ir.StringAttr.get(names[axis])
            if axis in names and size == ir.ShapedType.get_dynamic_size()
            else ir.IntegerAttr.get(i64, size)
            for axis, size in enumerate(ir.RankedTensorType(kind).shape)
        ]
    )


def _output_name(path: str, place: int) -> str:
    """Returns the name of an output: the keys on the way to it, or its number."""
    if path and not path[0].isdigit():
        return _identifier(path)
    return f"output{path or place}"


def _identifier(name: str) -> str:
    return re.sub(r"[^\w.]", "_", name)


def _bytecode(module: ir.Module) -> bytes:
    file = io.BytesIO()
    module.operation.write_bytecode(file)
    return file.getvalue()

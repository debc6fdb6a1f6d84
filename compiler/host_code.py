"""Host code: the module's host side, with its offload annotations, to an optimised LLVM module."""

from __future__ import annotations

from collections.abc import Iterator

from ..dialects.mlir import ir
from ..dialects.offload import EntryKind
from ..pipelines.walking import has_operation
from . import activity
from .child import in_child
from .description import SECTION
from .diagnostics import translation_error
from .gate import GateError
from .host import NATIVE, Host
from .ir_text import IrText, without_line_tables
from .llvm_ir import LlvmModule, host_machine, set_global_option
from .offload_annotations import Entry, annotation_text, offload_kind, section_text
from .offload_binary import Image, ImageKind, pack
from .platform_table import CUDA, HIP, Platform
from .short_blocks import shorten_blocks
from .straight_code import host_functions
from .translate import TranslationError, to_llvm_ir

# The dialects of functions on tensors and host programs, none of which names LLVM's operations.
_LOWERED_BY_HIRC = frozenset(
    {"builtin", "func", "arith", "math", "tensor", "linalg", "hir", "scf", "cf", "affine", "index"}
)

# What the support library says of wrong calls: a program that is right never gets there.
_COLD = frozenset({"hirc_assert_failed", "hirc_check_failed", "hirc_refuse"})

# What programs of libraries call, which takes the support library's exports along.
_OF_LIBRARIES = "hirc_call_begins"


def entries_of(module: ir.Operation) -> list[Entry]:
    """The offload entries a host module holds."""
    return [
        Entry(
            op.operation.attributes["device_name"].value,
            op.operation.attributes["host"].value,
            EntryKind(op.operation.attributes["kind"].value),
            op.operation.attributes["size"].value,
        )
        for op in module.regions[0].blocks[0]
        if op.operation.name == "offload.entry"
    ]


def embedded_images(module: ir.Operation, consumer: int) -> list[Image]:
    """Returns the device images of the module's offload.image operations."""
    images: list[Image] = []
    for op in module.regions[0].blocks[0]:
        if op.operation.name != "offload.image":
            continue
        attributes = op.operation.attributes
        data = bytes(memoryview(attributes["data"]))
        kind = ImageKind[attributes["format"].value.upper()]
        arch, triple = attributes["arch"].value, attributes["triple"].value
        registrar = offload_kind(_platform(triple), consumer)
        images.append(Image(data, arch, triple, kind, registrar))
    return images


def _platform(triple: str) -> Platform:
    return HIP if triple == HIP.triple else CUDA


def host_module(
    module: ir.Operation,
    *,
    support: bytes | None,
    opt_level: int,
    host: Host = NATIVE,
    consumer: int,
    debug: bool = True,
    description: bytes = b"",
) -> LlvmModule:
    """Translates the host side, adds the annotations, links the support library, optimises.

    Without `support` the library is called, and comes in when the file is linked. `consumer` is
    the major version of the clang that will link the module. Without `debug` line tables are left
    out, if the module has them. `description` is what the module says of itself.
    """
    machine = host_machine(opt_level, host.triple)
    private = _private_functions(module)
    entries, images = entries_of(module), embedded_images(module, consumer)
    with module.context, module.location:
        holder = ir.Module.create()
        for op in module.regions[0].blocks[0]:
            if op.operation.name.partition(".")[0] not in ("gpu", "offload"):
                holder.body.append(op.operation.clone())
        shorten_blocks(holder.operation)
        activity.enter("host-code", "translation to LLVM IR")
        try:
            text = to_llvm_ir(holder.operation, data_layout=machine.data_layout())
        except (TranslationError, GateError) as error:
            raise translation_error(error, "host-code", holder.operation) from error
    if not debug:
        text = without_line_tables(IrText.of(text)).whole()
    functions = host_functions(text)
    if entries or images:
        platforms = tuple(dict.fromkeys(_platform(image.triple) for image in images)) or (CUDA,)
        text += annotation_text(entries, pack(images), consumer, platforms)
    if description:
        text += section_text(description, SECTION)
    result = LlvmModule(text, machine, name="host")
    for name in private:
        result.set_linkage(name, "internal")
    result.forbid_optimizing(functions.kept)
    result.forbid_inlining(functions.called_often)
    if support is not None:
        wanted = result.undefined_functions()
        result.link_bitcode(support, wanted=wanted, exports=_OF_LIBRARIES in wanted)
    result.add_to_declarations(_COLD, "cold")
    result.drop_unused()
    result.verify()
    if functions.are_straight and support is None:
        result.optimize_straight(functions.called_once.intersection(private))
    else:
        result.optimize()
    return result


def _private_functions(module: ir.Operation) -> list[str]:
    """Functions with a body that only this module may call."""
    return [
        op.operation.attributes["sym_name"].value
        for op in module.regions[0].blocks[0]
        if op.operation.name == "llvm.func"
        and "sym_visibility" in op.operation.attributes
        and op.operation.attributes["sym_visibility"].value == "private"
        and list(op.operation.regions[0].blocks)
    ]


def is_refusable(module: ir.Operation) -> bool:
    """Returns whether LLVM may refuse to generate code of a program, as it was read. Functions on
    tensors and host programs without vectors say nothing that reaches its code generators as it
    stands.
    """
    known: dict[str, bool] = {}

    def is_foreign(op: ir.Operation) -> bool:
        name = op.name
        if name not in known:
            known[name] = name.partition(".")[0] not in _LOWERED_BY_HIRC
        if known[name]:
            return True
        values = [*op.results, *(each for region in op.regions for each in _arguments(region))]
        return any(isinstance(value.type, ir.VectorType) for value in values)

    return has_operation(module, is_foreign)


def _arguments(region: ir.Region) -> Iterator[ir.Value]:
    return (value for block in region for value in block.arguments)


def host_object(module: LlvmModule, *, is_refusable: bool = True, quickly: bool = False) -> bytes:
    """Returns an object file of the host module. Raises UnsupportedError where LLVM cannot make
    one, which ends the process that tries; so does a fault of LLVM's, with InternalError.

    A module that is not refusable takes no other process, unless it has code that is not optimised:
    faults were found in that alone, and such code is large, so that the process does not matter.
    See LlvmModule.object_code for `quickly`.
    """

    def generate() -> bytes:
        # Of loops over a block's threads it takes as long as all else does together, and they are
        # no faster for it.
        set_global_option("-disable-lsr")
        try:
            return module.object_code(quickly=quickly)
        finally:
            set_global_option("-disable-lsr=false")

    if not is_refusable and not module.has_unoptimised():
        activity.enter("host-code")
        return generate()
    return in_child(
        generate,
        what="host code",
        stage="host-code",
        hint="--emit=llvm shows what it was given; inline assembly and intrinsics have to be "
        "the host's",
    )

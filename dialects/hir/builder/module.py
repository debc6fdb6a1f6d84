"""Modules: programs that are built together, and the kernels they launch."""

from __future__ import annotations

from collections.abc import Sequence

from ... import hir, offload
from ...mlir import context as new_context
from ...mlir import ir
from ..kernel_function import parameters_of
from .emitter import Emitter
from .errors import BuildError
from .kernel import Kernel, Kernels, three_sizes
from .program import Program
from .verification import parse, verify


class Module:
    """Programs that may call one another, and kernels.

        m = hirc.module()
        with m.program("layer") as layer:
            ...
        with m.program("main") as p:
            y = p.call(layer, x)

    `text` is MLIR's text with locations, str(m) the text for reading, `module` MLIR's module.
    """

    def __init__(self) -> None:
        self.context = new_context()
        hir.load(self.context)
        offload.load(self.context)
        self.programs: dict[str, Program] = {}
        self._emitter = Emitter(self.context, "the module")
        self._names: set[str] = set()
        self.ir_module = ir.Module.create(self._emitter.location())

    def program(self, name: str) -> Program:
        """Returns a further program, written in its `with`."""
        self._require_free(name)
        self._names.add(name)
        self.programs[name] = Program(self, name)
        return self.programs[name]

    def gpu_module(self, text: str) -> Kernels:
        """Adds a gpu.module, given as text, and gives its kernels by name."""
        parsed = parse(text, self.context)
        found = [op.operation for op in parsed.body.operations]
        if [op.name for op in found] != ["gpu.module"]:
            names = ", ".join(op.name for op in found) or "nothing"
            raise BuildError(f"the text is one gpu.module, not {names}")
        name = ir.StringAttr(found[0].attributes["sym_name"]).value
        self._require_free(name)
        self._names.add(name)
        # Whoever looks for kernels of a module looks for this attribute.
        self.ir_module.operation.attributes["gpu.container_module"] = self._emitter.unit()
        added = found[0].clone(ir.InsertionPoint(self.ir_module.body))
        functions = [op.operation for op in added.regions[0].blocks[0].operations]
        return Kernels(
            (function_name, Kernel((name, function_name), tuple(parameters_of(function))))
            for function in functions
            if function.name == "gpu.func" and _is_kernel(function)
            for function_name in [ir.StringAttr(function.attributes["sym_name"]).value]
        )

    def kernel(
        self,
        name: str,
        function: Kernel,
        block: int | Sequence[int] | None = None,
        shared_bytes: int | None = None,
        cluster: int | Sequence[int] | None = None,
        writes: Sequence[int] | None = None,
    ) -> Kernel:
        """Names a gpu function and what its launches have in common.

        `block` and `cluster` are three sizes, of which the last may be left out; `writes` lists the
        arguments that the kernel writes, without it any buffer may be written.
        """
        self._require_free(name)
        emitter = self._emitter
        attributes = {
            "sym_name": emitter.string(name),
            "function": emitter.symbol(*function.path),
        }
        for key, sizes in (("block", block), ("cluster", cluster)):
            if sizes is not None:
                attributes[key] = emitter.integers(three_sizes(f"the {key}", sizes))
        if shared_bytes is not None:
            attributes["shared_bytes"] = emitter.integer(shared_bytes)
        if writes is not None:
            attributes["writes"] = emitter.integers(writes)
        at = ir.InsertionPoint(self.ir_module.body)
        emitter.emit("hir.kernel", [], [], attributes, at=at)
        self._names.add(name)
        threads = None if block is None else tuple(three_sizes("the block", block))
        return Kernel((name,), function.parameters, threads, shared_bytes or 0)

    @property
    def module(self) -> ir.Module:
        """MLIR's module, verified."""
        self.verify()
        return self.ir_module

    def verify(self) -> None:
        """Raises BuildError where a program is not finished, or not valid."""
        for program in self.programs.values():
            program.require_finished(f"the module of program {program.name} is asked for")
        verify(self.ir_module.operation)

    @property
    def text(self) -> str:
        """The module's text with locations."""
        self.verify()
        return self.unverified_text

    @property
    def unverified_text(self) -> str:
        """The text for who calls verify() before anything is made of it."""
        # MLIR would verify it.
        module = self.ir_module.operation
        return str(module.get_asm(enable_debug_info=True, assume_verified=True))

    def __str__(self) -> str:
        return str(self.ir_module.operation.get_asm(use_name_loc_as_prefix=True))

    def _require_free(self, name: str) -> None:
        if not name:
            raise BuildError("a name is expected, not ''")
        if name in self._names:
            raise BuildError(f"the module has a {name!r} already", "give it another name")


def _is_kernel(function: ir.Operation) -> bool:
    # The mark of the text's `kernel`, and that of outlined kernels.
    return any(mark in function.attributes for mark in ("kernel", "gpu.kernel"))

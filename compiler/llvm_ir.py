"""LLVM 22 in this process: parsing, linking, optimising and emitting modules.

A thin typed layer over llvmlite, through which all IR passes.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import llvmlite.binding as llvm

from ..dialects.records import dataclass
from . import activity
from .errors import InputError, InternalError
from .platform_table import platform_of

CONSUMER_LLVM = 22

_MERGED_LINKAGES = frozenset(
    {
        llvm.Linkage.weak_any,
        llvm.Linkage.weak_odr,
        llvm.Linkage.linkonce_any,
        llvm.Linkage.linkonce_odr,
        llvm.Linkage.common,
        llvm.Linkage.appending,
    }
)

_LOCAL_LINKAGES = frozenset({llvm.Linkage.internal, llvm.Linkage.private})

# Attributes of functions that LLVM takes none of beside `optnone`.
_NOT_INLINED = ("noinline", "optnone")
_EXCLUDE_OPTNONE = ("alwaysinline", "minsize", "optsize", "optdebug")

_NAME = r'[-\w.$]+|"[^"]*"'
# What begins an instruction with a result, a block, and a function.
_NAMING = re.compile(rf"(?m)^(?:  %({_NAME}) = |({_NAME}):|define (.*))")
# Of what a function's first line names, its arguments: what follows is no name of a type.
_ARGUMENT = re.compile(rf" %({_NAME})(?=[,)])")


@cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()


@dataclass(frozen=True)
class Machine:
    """A code generator: triple, processor, features, optimisation level 0 to 3."""

    triple: str
    cpu: str
    features: str
    opt_level: int
    position_independent: bool = False

    def target_machine(self) -> llvm.TargetMachine:
        _initialize()
        target = llvm.Target.from_triple(self.triple)
        return target.create_target_machine(
            cpu=self.cpu,
            features=self.features,
            opt=self.opt_level,
            reloc="pic" if self.position_independent else "default",
            codemodel="default",
        )

    def data_layout(self) -> str:
        return str(self.target_machine().target_data)


def _is_offered(symbol: llvm.ValueRef) -> bool:
    """Returns whether a module defines it for others; a local definition is nobody else's."""
    return not symbol.is_declaration and symbol.linkage not in _LOCAL_LINKAGES


def _is_shared(symbol: llvm.ValueRef, *, exports: bool) -> bool:
    """Returns whether a definition of a library is one for all that is linked from it."""
    if symbol.linkage not in _MERGED_LINKAGES:
        return False
    return exports or symbol.visibility is llvm.Visibility.hidden


class LlvmModule:
    """A module in a context of its own, for one machine."""

    def __init__(self, source: str | bytes, machine: Machine | None, *, name: str) -> None:
        """Takes IR text, or bitcode that hirc made. Without a machine it is the host's that the
        module names.
        """
        self._context = llvm.create_context()
        if isinstance(source, bytes):
            self._module = llvm.parse_bitcode(source, self._context)
        else:
            self._module = self._parse(source, name)
        # In a reference cycle Python would free these in any order, and LLVM stands only one.
        weakref.finalize(self, _free, self._module, self._context)
        if machine is None:
            machine = host_machine(0, self._module.triple)
        self.machine = machine
        self._target = machine.target_machine()
        self._module.triple = machine.triple
        self._module.data_layout = str(self._target.target_data)
        # Whether no function has a loop, as far as it is known.
        self.is_straight = False

    def _parse(self, text: str, name: str) -> llvm.ModuleRef:
        activity.enter_step("LLVM's reader of IR")
        try:
            module = llvm.parse_assembly(text, self._context)
        except RuntimeError as error:
            raise InternalError(
                f"LLVM {CONSUMER_LLVM} refuses the IR of {name}: {str(error).strip()}",
                hint="report this with the IR that --save-temps keeps",
            ) from error
        module.name = name
        return module

    @property
    def raw(self) -> llvm.ModuleRef:
        """llvmlite's own module."""
        return self._module

    def link_bitcode(
        self, data: bytes, *, wanted: Iterable[str] | None = None, exports: bool = True
    ) -> list[str]:
        """Links a library's definitions and returns their names.

        They become internal, but for weak ones: those are one for the whole program. Of these the
        visible ones are what the linked file exports; without `exports` they are internal too. With
        `wanted`, nothing is linked unless the library defines one of those names.
        """
        return self._link_parsed(llvm.parse_bitcode(data, self._context), wanted, exports=exports)

    def link_library(self, data: bytes, origin: str) -> bool:
        """Links bitcode a user gave if it defines a function that is missing.

        Returns whether it did. Raises InputError for bitcode that cannot be read, is for another
        kind of machine, or defines the function with another type.
        """
        activity.enter_step(f"LLVM's reader of {origin}", input="the library")
        try:
            library = llvm.parse_bitcode(data, self._context)
        except (RuntimeError, UnicodeDecodeError) as error:
            # LLVM quotes names of a damaged file in what it says, whatever their bytes.
            is_read = isinstance(error, RuntimeError)
            reason = str(error).splitlines()[-1] if is_read else "it has a name that is not UTF-8"
            raise InputError(
                f"LLVM {CONSUMER_LLVM} cannot read {origin}: {reason}",
                hint=f"bitcode of LLVM {CONSUMER_LLVM} or older can be read, of a newer one not",
            ) from error
        try:
            _verify_library(library, origin)
            wanted = self._wanted_from(library, origin)
        except InputError:
            library.close()
            raise
        except UnicodeDecodeError as error:
            library.close()
            raise InputError(f"{origin} has a name that is not UTF-8") from error
        return bool(self._link_parsed(library, wanted))

    def _wanted_from(self, library: llvm.ModuleRef, origin: str) -> list[str]:
        """The functions this module lacks. Raises InputError where `library` does not fit."""
        wanted = self.undefined_functions()
        # A name that is not UTF-8 shows as it is looked at, and the linker is to meet none.
        _ = [item.name for item in [*library.functions, *library.global_variables]]
        if library.triple.partition("-")[0] not in ("", self.machine.triple.partition("-")[0]):
            raise InputError(
                f"{origin} is bitcode for {library.triple}, not for {self.machine.triple}"
            )
        for function in library.functions:
            if not _is_offered(function) or function.name not in wanted:
                continue
            declared = self._module.get_function(function.name).global_value_type
            if str(declared) != str(function.global_value_type):
                raise InputError(
                    f"function '{function.name}' is called as {declared}, and {origin} defines "
                    f"it as {function.global_value_type}"
                )
        return wanted

    def _link_parsed(
        self, library: llvm.ModuleRef, wanted: Iterable[str] | None, *, exports: bool = True
    ) -> list[str]:
        symbols = [*library.functions, *library.global_variables]
        offered = [item for item in symbols if _is_offered(item)]
        defined = [item.name for item in offered]
        if wanted is not None and not set(wanted).intersection(defined):
            return []
        own = [item.name for item in offered if not _is_shared(item, exports=exports)]
        self._adopt(library)
        for name in own:
            self.set_linkage(name, "internal")
        return defined

    def _adopt(self, other: llvm.ModuleRef) -> None:
        activity.enter_step("LLVM's linker")
        other.triple = self._module.triple
        other.data_layout = self._module.data_layout
        try:
            self._module.link_in(other)
        except RuntimeError as error:
            raise InternalError(f"linking IR failed: {str(error).strip()}") from error

    def link_module(self, other: LlvmModule) -> None:
        """Links another module into this one. The other may have any context."""
        self.is_straight = False
        self._adopt(llvm.parse_bitcode(other.bitcode(), self._context))

    def defined_functions(self) -> list[str]:
        return [item.name for item in self._module.functions if not item.is_declaration]

    def defined_variables(self) -> list[str]:
        return [item.name for item in self._module.global_variables if not item.is_declaration]

    def undefined_functions(self) -> list[str]:
        """Functions declared and not defined, LLVM's own intrinsics aside."""
        return [
            item.name
            for item in self._module.functions
            if item.is_declaration and not item.name.startswith("llvm.")
        ]

    def undefined_variables(self) -> list[str]:
        """Variables declared and not defined; those of no elements stand for dynamic memory."""
        return [
            item.name
            for item in self._module.global_variables
            if item.is_declaration and not str(item.global_value_type).startswith("[0 x ")
        ]

    def names_in(self, sections: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The variables that lie in each section of the object file, pointers each."""
        # A variable's text, which alone has its section, takes LLVM a look at the whole module.
        pointers = [
            (item.name, str(item))
            for item in self._module.global_variables
            if str(item.global_value_type) in ("ptr", "{ ptr }")
        ]
        return {
            section: tuple(name for name, text in pointers if f'section "{section}"' in text)
            for section in sections
        }

    def make_visible(self, names: Iterable[str]) -> None:
        """Lets a loader find definitions by name."""
        wanted = set(names)
        for item in [*self._module.functions, *self._module.global_variables]:
            if item.name in wanted:
                item.linkage, item.visibility = "external", "default"

    def set_linkage(self, name: str, linkage: str) -> None:
        symbol = self._symbol(name)
        if symbol is not None:
            symbol.linkage = linkage

    def _symbol(self, name: str) -> llvm.ValueRef | None:
        for find in (self._module.get_function, self._module.get_global_variable):
            try:
                return find(name)
            except NameError:
                continue
        return None

    def internalize(self, keep: Iterable[str]) -> None:
        """Makes every definition internal but those to keep, which become external."""
        kept = set(keep)
        for name in self.defined_functions() + self.defined_variables():
            if name in kept:
                self.set_linkage(name, "external")
            elif not name.startswith("llvm.") and name:
                self.set_linkage(name, "internal")

    def drop_unused(self) -> None:
        """Removes definitions nothing uses."""
        activity.enter_step("LLVM's optimiser")
        _drop_unused(self._module, self._pass_builder(0))

    def add_to_definitions(self, attribute: str) -> None:
        """Gives every function that has a body the attribute."""
        for function in self._module.functions:
            if not function.is_declaration:
                function.add_function_attribute(attribute)

    def add_to_declarations(self, names: Collection[str], attribute: str) -> None:
        """Gives the functions of these names that have no body the attribute."""
        for function in self._module.functions:
            if function.is_declaration and function.name in names:
                function.add_function_attribute(attribute)

    def forbid_optimizing(self, names: Iterable[str]) -> None:
        """Lets the optimiser and the code generator take these functions as they are."""
        for name in names:
            function = self._module.get_function(name)
            if any(word in str(each) for each in function.attributes for word in _EXCLUDE_OPTNONE):
                continue
            # LLVM has the one with the other only.
            function.add_function_attribute("noinline")
            function.add_function_attribute("optnone")

    def has_unoptimised(self) -> bool:
        """Returns whether the code generator takes some function as it is."""
        return any(
            "optnone" in str(each)
            for function in self._module.functions
            for each in function.attributes
        )

    def forbid_inlining(self, names: Iterable[str]) -> None:
        """Has callers call these functions, unless they are to have copies of them always."""
        for name in names:
            function = self._module.get_function(name)
            if not any("alwaysinline" in str(each) for each in function.attributes):
                function.add_function_attribute("noinline")

    def optimize(self, *, vectorizes_loops: bool = True) -> None:
        """LLVM's default pipeline of the machine's optimisation level."""
        activity.enter_step("LLVM's optimiser")
        builder = _pass_builder(self._target, self.machine.opt_level, vectorizes_loops)
        builder.getModulePassManager().run(self._module, builder)

    def answer_reflection(self) -> None:
        """Lets libdevice know the options that it asks for, and optimises nothing."""
        builder = self._pass_builder(0)
        builder.getModulePassManager().run(self._module, builder)

    def optimize_straight(self, called_once: Iterable[str]) -> None:
        """Optimises code without loops: what LLVM's pipeline does besides takes three times as
        long, and saves few instructions. Functions that are called once become part of their
        callers.
        """
        if self.machine.opt_level not in (1, 2):
            self.optimize()
            return
        self.is_straight = True
        for name in called_once:
            function = self._module.get_function(name)
            if not any(word in str(each) for each in function.attributes for word in _NOT_INLINED):
                function.add_function_attribute("alwaysinline")
        activity.enter_step("LLVM's optimiser")
        manager = llvm.create_new_module_pass_manager()
        manager.add_always_inliner_pass()
        manager.add_global_dead_code_eliminate_pass()
        manager.add_sroa_pass()
        manager.add_instruction_combine_pass()
        manager.add_simplify_cfg_pass()
        manager.add_tail_call_elimination_pass()
        manager.run(self._module, self._pass_builder(self.machine.opt_level))

    def _pass_builder(self, level: int) -> llvm.PassBuilder:
        return _pass_builder(self._target, level)

    def verify(self) -> None:
        activity.enter_step("LLVM's verifier")
        try:
            self._module.verify()
        except RuntimeError as error:
            raise InternalError(
                f"LLVM's verifier refuses the IR of {self._module.name}: {str(error).strip()}",
                hint="report this with the IR that --save-temps keeps",
            ) from error

    def text(self) -> str:
        """IR text, in which no local name is that of a type: both are spelled with %."""
        # Of a literal struct LLVM must not be asked the name.
        printed = (str(item).partition(" = ")[0] for item in self._module.struct_types)
        types = {name[1:] for name in printed if name.startswith("%")}
        text = str(self._module)
        # To ask LLVM each name takes longer than to print all.
        if not types or types.isdisjoint(_local_names(text)):
            return text
        types = {name.strip('"') for name in types}
        for function in self._module.functions:
            values = [*function.arguments, *function.blocks]
            values += [item for block in function.blocks for item in block.instructions]
            for value in values:
                if value.name in types:
                    value.name = f"{value.name}.value"
        return str(self._module)

    def bitcode(self) -> bytes:
        return self._module.as_bitcode()

    def object_code(self, *, quickly: bool = False) -> bytes:
        """Returns an object file. Made `quickly`, in a fifth of the time, values lie in memory."""
        activity.enter_step("LLVM's code generator")
        target = replace(self.machine, opt_level=0).target_machine() if quickly else self._target
        return target.emit_object(self._module)

    def assembly(self) -> str:
        activity.enter_step("LLVM's code generator")
        return self._target.emit_assembly(self._module)


def _local_names(text: str) -> Iterator[str]:
    """Yields the names of values and blocks, as IR spells them."""
    for line in _NAMING.finditer(text):
        yield line[1] or line[2] or ""
        if line[3]:
            yield from _ARGUMENT.findall(line[3])


def _verify_library(library: llvm.ModuleRef, origin: str) -> None:
    """Raises InputError for bitcode that can be read and is no program."""
    try:
        library.verify()
    except RuntimeError as error:
        raise InputError(
            f"LLVM's verifier refuses {origin}: {str(error).strip()}",
            hint="the file is damaged; make it again",
        ) from error


def _free(module: llvm.ModuleRef, context: llvm.ContextRef) -> None:
    module.close()
    context.close()


def merge_bitcode(modules: Sequence[bytes]) -> bytes:
    """Several modules of one machine as one."""
    _initialize()
    context = llvm.create_context()
    merged, *others = [llvm.parse_bitcode(data, context) for data in modules]
    for other in others:
        merged.link_in(other)
    return merged.as_bitcode()


def hidden_object(bitcode: bytes) -> tuple[bytes, list[str]]:
    """An object file of optimised bitcode of a host, and the symbols that it defines.

    Linked into a library, they are not symbols of the library, but for weak ones.
    """
    context = llvm.create_context()
    module = llvm.parse_bitcode(bitcode, context)
    defined: list[str] = []
    for item in [*module.functions, *module.global_variables]:
        if not item.is_declaration and item.linkage not in _LOCAL_LINKAGES:
            if item.linkage not in _MERGED_LINKAGES:
                item.visibility = "hidden"
            defined.append(item.name)
    return host_machine(2, module.triple).target_machine().emit_object(module), defined


def _pass_builder(
    target: llvm.TargetMachine, level: int, vectorizes_loops: bool = True
) -> llvm.PassBuilder:
    tuning = llvm.create_pipeline_tuning_options(speed_level=level)
    tuning.loop_vectorization = tuning.loop_vectorization and vectorizes_loops
    return llvm.create_pass_builder(target, tuning)


def _drop_unused(module: llvm.ModuleRef, builder: llvm.PassBuilder) -> None:
    manager = llvm.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    manager.run(module, builder)


def extract_definitions(library: bytes, wanted: Iterable[str], machine: Machine) -> bytes:
    """The part of a library that defines the functions `wanted`, with all they need."""
    target = machine.target_machine()
    context = llvm.create_context()
    module = llvm.parse_bitcode(library, context)
    keep = set(wanted)
    for item in [*module.functions, *module.global_variables]:
        if not item.is_declaration:
            # As long as nothing calls it, one of another linkage would be dropped.
            item.linkage = "external" if item.name in keep else "internal"
    _drop_unused(module, _pass_builder(target, 0))
    return module.as_bitcode()


def host_machine(opt_level: int, triple: str = "") -> Machine:
    """The code generator for a host, the machine hirc runs on if none is given: its base
    architecture, no more.
    """
    # clang spells the vendor of x86 machines "pc"; a module of another spelling draws a warning.
    triple = triple or re.sub("^x86_64-unknown-", "x86_64-pc-", llvm.get_process_triple())
    # The name clang gives the base processor: equal features are what inlining its code needs.
    cpu = "x86-64" if triple.startswith("x86_64-") else "generic"
    return Machine(triple, cpu, "", opt_level, position_independent=True)


def host_features() -> dict[str, bool]:
    """Returns what the processor of this machine has, by LLVM's names."""
    return dict(llvm.get_host_cpu_features())


def device_machine(chip: str, opt_level: int) -> Machine:
    """The code generator for a GPU."""
    platform = platform_of(chip)
    return Machine(platform.triple, chip, platform.features, opt_level)


def set_global_option(option: str) -> None:
    """Sets an option of LLVM's own command line; it holds for the process until set again."""
    llvm.set_option("hirc", option)

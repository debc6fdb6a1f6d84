"""Loading compiled code into this process, without a linker: LLVM's ORC resolves its symbols.

What a linker and constructors would do is done here. The code calls the runtime (runtime_library),
of which each program has a copy of its own, as a linked library has. Its kernels and variables are
registered as clang's offload linking does it. Both go together: the copy of the runtime is what is
unloaded, by whoever needs it last, and it releases the code.

Needs llvmlite, where ORC places the code, and neither MLIR nor torch.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import struct
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .code import KERNELS, LISTED, VARIABLES, Code
from .device_containers import BUNDLE_ALIGNMENT, fatbin, offload_bundle
from .errors import InputError
from .loader_files import LoadedLibrary, check_whole
from .object_symbols import object_symbols
from .target import Devices

TABLE = "hirc_runtime_symbols"

# struct __fatBinC_Wrapper_t of CUDA's fatbinary_section.h: magic, version, container, nothing.
# HIP's is the same, with a magic number of its own.
_WRAPPER = struct.Struct("<IIQQ")
_WRAPPER_MAGIC, _HIP_WRAPPER_MAGIC, _WRAPPER_VERSION = 0x466243B1, 0x48495046, 1

_c = ctypes.CDLL(None)
_c.malloc.restype = _c.aligned_alloc.restype = _c.mmap.restype = ctypes.c_void_p
_c.malloc.argtypes = [ctypes.c_size_t]
_c.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
_c.mmap.argtypes = [
    *(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
]
_READ_WRITE, _PRIVATE = 3, 0x22
_FAILED = ctypes.c_void_p(-1).value

_lock = threading.Lock()
_numbers = itertools.count()


# A function of C and its two arguments.
Release = tuple[int, int, int]


class LoadedFunctions:
    """What ctypes.CDLL is of a library, of code and of the copy of the runtime that it calls."""

    def __init__(self, runtime: ctypes.CDLL, addresses: Mapping[str, int]) -> None:
        self._runtime = runtime
        self._addresses = addresses
        self._handle = runtime._handle  # pyright: ignore[reportPrivateUsage]

    def __getattr__(self, name: str) -> Any:
        address = self.__dict__.get("_addresses", {}).get(name)
        if address is None:
            raise AttributeError(name)
        function = _function(self._runtime, address)
        setattr(self, name, function)
        return function


def _function(runtime: ctypes.CDLL, address: int) -> Any:
    """Returns the function at an address, of the kind that attributes of a library are."""
    kind: Any = runtime._FuncPtr  # pyright: ignore[reportPrivateUsage]
    return kind(address)


def load_code(
    code: Code,
    runtime: bytes,
    *,
    libraries: Iterable[str] = (),
    weights: WeightMemory | None = None,
) -> LoadedLibrary:
    """Loads code into this process, with a copy of the runtime.

    `libraries` are shared libraries with functions that it calls, `weights` the values of its
    weights. Raises InputError for a function that is defined nowhere.
    """
    with _lock:
        copy = _copy_of(runtime)
        known = _table(copy, code.runtime)
        loading = _Loading(code, copy, known)
        loading.load(libraries, weights)
    # What a library exports besides its programs is the runtime's.
    functions = LoadedFunctions(copy, {**known, **loading.addresses})
    return LoadedLibrary(functions, is_copy=True)


class WeightMemory:
    """Room for the values of weights, on a page: `view` is to be filled."""

    def __init__(self, size: int) -> None:
        self._map: Any = _c.mmap(None, size, _READ_WRITE, _PRIVATE, -1, 0)
        if self._map in (None, _FAILED):
            raise MemoryError
        self.size = size
        self.address = int(self._map)
        self.view = memoryview((ctypes.c_char * size).from_address(self.address)).cast("B")


class _Loading:
    """Code on its way into the process, beside its copy of the runtime."""

    def __init__(self, code: Code, runtime: ctypes.CDLL, known: Mapping[str, int]) -> None:
        self._code, self._runtime, self._known = code, runtime, known
        self.addresses: Mapping[str, int] = {}
        self._releases: list[Release] = []

    def load(self, libraries: Iterable[str], weights: WeightMemory | None) -> None:
        given = dict(self._known)
        if weights is not None:
            given[self._code.weights] = weights.address
        imports = _resolved(self._code, given, [self._runtime, *map(_library, libraries)])
        self.addresses, release = _place(self._code, imports)
        self._releases.append(release)
        if weights is not None:
            self._releases.append((_address(_c.munmap), weights.address, weights.size))
        self._give()
        self._register()

    def _give(self) -> None:
        """Tells the runtime what it else finds by the ends of sections, and what to release."""
        self._call("hirc_program_list_give", *self._pointers(LISTED))
        if self._code.is_for_cpu:
            tables = *self._pointers(KERNELS), *self._pointers(VARIABLES)
            self._call("hirc_cpu_device_give", *tables)
            for release in self._releases:
                self._call("hirc_cpu_device_at_end", *release)

    def _register(self) -> None:
        """Registers kernels and variables as constructors of a linked file do."""
        handle = None
        is_amd = self._code.devices == Devices.AMD
        register = "__hipRegister" if is_amd else "__cudaRegister"
        if not self._code.is_for_cpu and self._code.images:
            images = self._code.images
            bundle = offload_bundle(images) if is_amd else fatbin(images)
            magic = _HIP_WRAPPER_MAGIC if is_amd else _WRAPPER_MAGIC
            container = _staying(bundle, BUNDLE_ALIGNMENT if is_amd else 1)
            wrapper = _WRAPPER.pack(magic, _WRAPPER_VERSION, container, 0)
            handle = self._call(f"{register}FatBinary", _staying(wrapper))
        for entry in self._code.entries:
            # CUDA keeps the name.
            name = _staying(entry.device_name.encode() + b"\0")
            which = handle, self.addresses[entry.host], name, name
            if entry.bytes == 0:
                self._call(f"{register}Function", *which, _Int(-1), *[None] * 5)
            else:
                constant = _Int(entry.is_constant)
                self._call(f"{register}Var", *which, _Int(0), entry.bytes, constant, _Int(0))
        if handle is not None and is_amd:
            self._call("hirc_hip_unregister_at_end", handle)
        elif handle is not None:
            self._call("__cudaRegisterFatBinaryEnd", handle)

    def _call(self, name: str, *arguments: int | None) -> int | None:
        function = _function(self._runtime, self._known[name])
        function.restype = ctypes.c_void_p
        function.argtypes = [
            ctypes.c_int if isinstance(each, _Int) else ctypes.c_void_p for each in arguments
        ]
        return function(*arguments)

    def _pointers(self, section: str) -> tuple[int, int]:
        """Returns the address of an array of the pointers that lie in a section, and
        their number.
        """
        names = self._code.sections.get(section, ())
        found = [ctypes.c_void_p.from_address(self.addresses[name]).value or 0 for name in names]
        room = _staying(struct.pack(f"<{len(found)}Q", *found))
        self._releases.append((_address(_c.free), room, 0))
        return room, len(found)


class _Int(int):
    """An argument of C's type int; others are addresses, or as wide."""


def _staying(data: bytes, alignment: int = 1) -> int:
    """Returns the address of a copy of bytes, which whoever has it may free."""
    size = max(len(data), 1)
    size += -size % alignment
    room = _c.malloc(size) if alignment == 1 else _c.aligned_alloc(alignment, size)
    if not room:
        raise MemoryError
    ctypes.memmove(room, data, len(data))
    return room


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _copy_of(runtime: bytes) -> ctypes.CDLL:
    """Returns a copy of the runtime; the linker takes one for another where paths or inodes are
    equal.
    """
    handle, name = tempfile.mkstemp(prefix="hirc-", suffix=".so")
    try:
        with open(handle, "wb") as file:
            file.write(runtime)
        return ctypes.CDLL(name)
    finally:
        os.unlink(name)


# The symbols of each runtime that was loaded, by its name in the cache, which has a digest.
_symbols_of: dict[str, tuple[str, ...]] = {}


def _table(runtime: ctypes.CDLL, name: str) -> Mapping[str, int]:
    """Returns the addresses of the symbols of a copy of the runtime of that name."""
    first = ctypes.addressof(ctypes.c_char.in_dll(runtime, TABLE))
    names = _symbols_of.get(name)
    if names is None:
        names = tuple(_names(first))
        if name:
            _symbols_of[name] = names
    words = (ctypes.c_uint64 * (2 * len(names))).from_address(first)
    return dict(zip(names, words[1::2], strict=True))


def _names(first: int) -> Iterator[str]:
    """Yields the names of a table of pairs: the address of a name, null at the end, and its own."""
    while name := ctypes.c_void_p.from_address(first).value:
        yield ctypes.string_at(name).decode()
        first += 2 * ctypes.sizeof(ctypes.c_void_p)


def _library(name: str) -> ctypes.CDLL:
    try:
        if os.sep not in name:
            return ctypes.CDLL(name)
        check_whole(Path(name))
        return ctypes.CDLL(str(Path(name).absolute()))
    except OSError as error:
        raise InputError(f"cannot load {name}: {error}") from error


def _resolved(
    code: Code, given: Mapping[str, int], libraries: Iterable[ctypes.CDLL]
) -> dict[str, int]:
    """Returns the addresses of what the host code calls and does not define. Raises InputError."""
    found: dict[str, int] = {}
    symbols = [symbol for data in code.objects for symbol in object_symbols(data)]
    defined = {symbol.name for symbol in symbols if symbol.is_defined}
    for symbol in symbols:
        if symbol.name in defined:
            continue
        address = given.get(symbol.name) or _found_in(symbol.name, libraries)
        if address is None and not symbol.is_weak:
            raise InputError(
                f"function '{symbol.name}' is called and defined nowhere",
                hint="libraries= names shared libraries that have it",
            )
        found[symbol.name] = address or 0
    return found


def _found_in(name: str, libraries: Iterable[ctypes.CDLL]) -> int | None:
    """Returns the address of a function of the libraries, of the process, or of the compiler's
    library.
    """
    for library in [*libraries, ctypes.CDLL(None), _compiler_library()]:
        if library is None:
            continue
        try:
            return ctypes.addressof(ctypes.c_char.in_dll(library, name))
        except ValueError:
            continue
    return None


@cache
def _compiler_library() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL("libgcc_s.so.1")
    except OSError:
        return None


@cache
def _orc() -> Any:
    """Returns the one JIT of this process. It stays: at exit threads may still run
    what it loaded.
    """
    # Imported late: it is not needed where something else places code.
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(reloc="pic", jit=True)
    # JITLink lays a program out in one piece. The older linker asks for memory section by section,
    # and ends the process where two that refer to each other are further apart than 2 GB.
    jit: Any = llvm.create_lljit_compiler(machine, use_jit_link=True)
    jit._owned = True
    return jit


def _place(code: Code, imports: Mapping[str, int]) -> tuple[dict[str, int], Release]:
    """Lets ORC put the host code into memory; returns addresses by name, and what releases it."""
    import llvmlite.binding as llvm

    builder = llvm.JITLibraryBuilder()
    for data in code.objects:
        builder.add_object_img(data)
    for name, address in imports.items():
        builder.import_symbol(name, address)
    exported = [
        symbol.name
        for data in code.objects
        for symbol in object_symbols(data)
        if symbol.is_defined and not symbol.is_hidden
    ]
    for name in exported:
        builder.export_symbol(name)
    tracker: Any = builder.link(_orc(), f"hirc-{next(_numbers)}")
    address = ctypes.cast(tracker._ptr, ctypes.c_void_p).value or 0
    # Released in C, where no Python may be left to do it.
    tracker.detach()
    dispose: Any = llvm.ffi.lib.LLVMPY_LLJIT_Dylib_Tracker_Dispose
    release = (_address(dispose._cfn), address, ctypes.addressof(_ignored))
    return {name: tracker[name] for name in exported}, release


# Where the releasing function puts what it has to say, which nobody hears.
_ignored = ctypes.c_void_p()

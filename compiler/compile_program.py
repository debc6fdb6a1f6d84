"""`hirc.compile` and `hirc.jit`: a program as functions of this process."""

from __future__ import annotations

import operator
import os
import shutil
import sys
import tempfile
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dialects.records import dataclass
from .cache import cached, kept_shared
from .code import Code
from .code_key import code_key
from .collection import seldom_collected
from .compile_arguments import check_arguments, check_entry, check_model_call
from .errors import HircError, InputError
from .loader_artifact import Artifact
from .loader_checks import file_path
from .loader_code import WeightMemory, load_code
from .native import native_targets
from .options import (
    Convolutions,
    Emit,
    Float32Products,
    Graphs,
    Options,
    Products,
    Schedules,
    StateStorage,
    WeightStorage,
)
from .safetensors import TensorFile, joined, read_values
from .sharding import Sharding, make_sharding
from .source import STDIN_NAME, Source, is_model, read_source
from .target import Target, is_several
from .trace import span

if TYPE_CHECKING:
    from .compile_code import Compiled

# MLIR and LLVM are one thread's at a time.
_compiling = threading.RLock()


def compile(
    program: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    mesh: Any = None,
    shardings: Mapping[str, Any] | None = None,
    target: str | Sequence[str] = "native",
    entry: str = "main",
    opt_level: int = 2,
    fast_math: bool = False,
    float32_products: str | None = None,
    products: str = "auto",
    convolutions: str = "auto",
    schedules: str = "auto",
    graph: str = "auto",
    overlap_steps: int = 0,
    overlap_by_peers: bool = False,
    checks: Sequence[str] = (),
    debug: bool = False,
    weights: str = "auto",
    weights_from: str | os.PathLike[str] | None = None,
    state: str = "kept",
    libraries: Sequence[str | os.PathLike[str]] = (),
    cache: bool = True,
) -> Artifact:
    """Compiles a program and loads it into this process: no linker and no other process runs it.

    `program` is MLIR text, a path, an MLIR module, a program or module of the builder, or a torch
    model: a module, a function, or a result of torch.export.export. A model is compiled for the
    inputs `args` and `kwargs`. Only their types and sizes count: they may be fake tensors, or on
    `meta`. Other values than tensors become part of the program. `dynamic_shapes` is
    torch.export's: a size that is a `Dim` stays open within the limits of the `Dim`.

    `mesh` has the sizes of the axes of a mesh of devices. `shardings` then says how inputs, weights
    and outputs are spread, by name or pattern: torch's Shard, Replicate or Partial, or one of these
    for each axis. `args` and `kwargs` are the whole inputs; each process calls the artifact with
    its parts.

    `target` is a value of --offload-arch, or several; native is the CPU device where there is no
    GPU. `entry` names the program that a call of the artifact, or an executable, runs, where there
    are several. `libraries` are shared libraries with C functions that the program calls. With
    `cache` the code is kept on disk and reused. The other options are the command's; for a model
    `float32_products` defaults to tf32 where torch allows that at this time.

    Raises HircError: InputError where the program or the call is wrong, UnsupportedError with the
    user's line where something cannot be compiled.
    """
    words = {
        "opt_level": opt_level,
        "fast_math": fast_math,
        "float32_products": float32_products,
        "products": products,
        "convolutions": convolutions,
        "schedules": schedules,
        "graph": graph,
        "overlap_steps": overlap_steps,
        "overlap_by_peers": overlap_by_peers,
        "checks": checks,
        "debug": debug,
        "weights": weights,
        "state": state,
        "cache": cache,
    }
    check_arguments(target, entry, libraries, words)
    with _compiling:
        sharding = make_sharding(mesh, shardings)
        given = _given(program, args, kwargs, dynamic_shapes, entry, sharding)
        options = Options(
            inputs=(given.source.name,),
            output=f"lib{'program' if given.source.name == STDIN_NAME else given.source.stem}.so",
            link_inputs=tuple(os.fspath(each) for each in libraries),
            emit=Emit.SHARED,
            targets=_targets(target),
            opt_level=operator.index(opt_level),
            debug=debug,
            fast_math=fast_math,
            float32_products=Float32Products(float32_products or given.float32_products),
            products=Products(products),
            convolutions=Convolutions(convolutions),
            schedules=Schedules(schedules),
            graphs=Graphs(graph),
            overlap_steps=operator.index(overlap_steps),
            overlap_by_peers=overlap_by_peers,
            sharding=sharding,
            checks=frozenset([checks] if isinstance(checks, str) else checks),
            weights=WeightStorage(weights),
            weights_from=None if weights_from is None else file_path(weights_from, "weights_from="),
            state=StateStorage(state),
            entry=entry,
        )
        artifact = load_program(
            given.source, options, types=given.types, cache=cache, check=given.check
        )
        check_entry(entry, artifact.programs)
        return artifact


def jit(program: Any, *args: Any, on_failure: str = "raise", **options: Any) -> Callable[..., Any]:
    """Compiles a program and returns it as a function. Takes the arguments of `hirc.compile`.

    With `on_failure="interpret"` a Host IR program that cannot be compiled here is interpreted, and
    a torch model runs in torch; a warning says why. Both are called as what is compiled. Raises
    HircError as `hirc.compile` does, with `on_failure="interpret"` only for errors in the program
    or the call, and for functions on tensors, which are not interpreted.
    """
    if on_failure not in ("raise", "interpret"):
        raise InputError(f"on_failure is {on_failure!r}", hint="it is one of raise, interpret")
    try:
        artifact = compile(program, *args, **options)
    except HircError as error:
        if on_failure == "raise" or isinstance(error, InputError):
            raise
        interpreted = _interpreted(program, error, options)
        place = f"{error.position}: " if error.position is not None else ""
        warnings.warn(f"not compiled, but interpreted: {place}{error}", stacklevel=2)
        return interpreted
    return artifact if artifact.is_model else artifact.program


@dataclass(frozen=True)
class _Given:
    """A program that was given, as the compiler takes it; what is in the cache was checked."""

    source: Source
    types: Mapping[str, type] | None = None
    float32_products: str = Float32Products.IEEE
    check: Callable[[], None] | None = None


def _given(
    program: Any,
    args: Sequence[Any],
    kwargs: Any,
    dynamic_shapes: Any,
    entry: str,
    sharding: Sharding | None,
) -> _Given:
    source = _source(program, entry, sharding)
    if source is None:
        check_model_call(program, args, kwargs)
        # Most of what these thousand modules make stays.
        with seldom_collected():
            from ..frontends.torch.model_source import float32_products, model_source

        source, types = model_source(program, args, kwargs, dynamic_shapes, entry, sharding)
        return _Given(source, types, float32_products())
    if not _is_empty(args) or kwargs or dynamic_shapes is not None:
        raise InputError("inputs to compile for go with a torch model, and this is none")
    is_path = isinstance(program, (str, os.PathLike)) and is_model(os.fspath(program))
    if sharding is not None and not is_path:
        raise InputError(
            "shardings go with a torch model; other programs say themselves how tensors are spread"
        )
    is_built = hasattr(program, _UNVERIFIED)
    return _Given(source, check=getattr(program, "verify", None) if is_built else None)


# Of the builder's modules and programs.
_UNVERIFIED = "unverified_text"


def _is_empty(args: Any) -> bool:
    return isinstance(args, Sequence) and not args


def _source(program: Any, entry: str, sharding: Sharding | None = None) -> Source | None:
    """Returns what is no torch model as the compiler takes it."""
    if isinstance(program, str) and ("\n" in program or "(" in program):
        return Source(STDIN_NAME, program.encode(), is_made=True)
    if isinstance(program, (str, os.PathLike)):
        file_path(program, "program", others=" or MLIR text")
        return read_source(os.fspath(program), entry, sharding)
    text = _module_text(program)
    return None if text is None else Source(STDIN_NAME, text.encode(), is_made=True)


def _module_text(program: Any) -> str | None:
    """Returns the text, with locations, of a builder's program, unverified, or an MLIR module."""
    text = getattr(program, _UNVERIFIED, None)
    if isinstance(text, str):
        return text
    # Who has an MLIR module has imported it.
    mlir = sys.modules.get("torch_mlir.ir")
    if mlir is None or not isinstance(program, (mlir.Module, mlir.OpView, mlir.Operation)):
        return None
    return str(getattr(program, "operation", program).get_asm(enable_debug_info=True))


@dataclass(frozen=True)
class _Ready:
    """Code that can be loaded; `compiled` if that was made now."""

    code: Code
    runtime: bytes
    compiled: Compiled | None = None


def load_program(
    source: Source,
    options: Options,
    *,
    types: Mapping[str, type] | None = None,
    cache: bool = True,
    check: Callable[[], None] | None = None,
) -> Artifact:
    """Compiles a source to code, and loads it; or links it into a library where it must.

    `types` are what a model is called with, by name; `check` is called before it is compiled.
    Raises HircError.
    """
    if options.checks or is_several(options.targets):
        if check is not None:
            check()
        return _linked(source, options, types)
    values = _weight_values(source, options)
    make = partial(_made, source, options, check)
    ready = _from_cache(f"code-{code_key(source, options, values)}", make) if cache else make()
    memory = weight_memory(ready.code, values)
    with span("load", "stage"):
        loaded = load_code(ready.code, ready.runtime, libraries=options.link_inputs, weights=memory)
    weights = ready.compiled.weights if ready.compiled is not None else None
    folder = beside = None
    if weights is not None and weights.output is not None:
        folder = tempfile.mkdtemp(prefix="hirc-weights-")
        beside = Path(folder) / weights.output.name
        replace(weights, output=beside).write_file()
    artifact = Artifact(
        Path(options.output or ""),
        beside,
        loaded=loaded,
        maker=_Maker(source, options, ready.compiled),
        types=types,
        entry=options.entry,
    )
    if folder is not None:
        weakref.finalize(artifact, shutil.rmtree, folder, ignore_errors=True)
    return artifact


def _weight_values(source: Source, options: Options) -> TensorFile | None:
    """Returns the values of weights, where any are given: those of a file come first."""
    files = [] if source.weights is None else [source.weights]
    if options.weights_from is not None:
        files.insert(0, read_values(options.weights_from, files))
    return joined(files) if files else None


def _made(source: Source, options: Options, check: Callable[[], None] | None) -> _Ready:
    # Imported late: what is cached needs neither MLIR nor LLVM's parts that compile.
    from .compile_code import compile_code

    if check is not None:
        check()
    compiled = compile_code(source, options)
    return _Ready(compiled.code, compiled.runtime, compiled)


class _NotKept(Exception):
    def __init__(self, made: _Ready) -> None:
        self.made = made


def _from_cache(name: str, make: Callable[[], _Ready]) -> _Ready:
    """Returns what the cache has of that name; else it is made, by one process at a time."""
    made: list[_Ready] = []

    def make_packed() -> bytes:
        ready = make()
        made.append(ready)
        if ready.compiled is not None and not ready.compiled.can_be_kept:
            raise _NotKept(ready)
        return ready.code.pack()

    try:
        with span("cache", "stage"):
            packed = cached(name, make_packed)
    except _NotKept as only:
        return only.made
    if made:
        return made[0]
    try:
        code = Code.unpack(packed)
    except ValueError:
        return make()
    runtime = kept_shared(code.runtime)
    return make() if runtime is None else _Ready(code, runtime)


def weight_memory(code: Code, values: TensorFile | None) -> WeightMemory | None:
    """Returns the values of embedded weights in memory of their own."""
    if values is None or not code.weights:
        return None
    memory = WeightMemory(code.weight_bytes)
    for offset, name in code.weight_places:
        found = values.find(name)
        assert found is not None, name
        memory.view[offset : offset + found[1].data.nbytes] = found[1].data
    return memory


def _linked(source: Source, options: Options, types: Mapping[str, type] | None) -> Artifact:
    """Returns a program that is linked into a library: checks reserve memory before
    anything else, and the link lets what is for several kinds of devices choose.
    """
    from .driver import Compilation

    folder = Path(tempfile.mkdtemp(prefix="hirc-model-"))
    try:
        library = folder / (options.output or "")
        options = replace(options, output=str(library))
        Compilation(options, given={source.name: source}).run()
        maker = _Maker(source, options)
        artifact = Artifact(library, maker=maker, types=types, entry=options.entry)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(artifact, shutil.rmtree, folder, ignore_errors=True)
    return artifact


@dataclass(frozen=True)
class _Maker:
    """Makes files of a program that was compiled."""

    source: Source
    options: Options
    compiled: Compiled | None = None

    def library(self, path: Path, header: Path | None, pkg_config: Path | None) -> None:
        """Makes a shared library, and what describes it. Raises HircError."""
        if self.compiled is None or header is not None or pkg_config is not None:
            # It was cached, or linked; or the program is to be looked at.
            self._make(path, Emit.SHARED, header=header, pkg_config=pkg_config)
            return
        from .compile_code import CodeLink

        with _compiling:
            CodeLink(self.options).link(self.compiled, path)

    def executable(self, path: Path) -> None:
        """Makes an executable that runs the entry. Raises HircError."""
        self._make(path, Emit.EXE)

    def ptx(self) -> str:
        """Returns the device code as PTX. Raises HircError."""
        with tempfile.TemporaryDirectory(prefix="hirc-") as folder:
            path = Path(folder) / "device.ptx"
            self._make(path, Emit.PTX)
            return path.read_text()

    def _make(self, path: Path, emit: Emit, **files: Path | None) -> None:
        from .driver import Compilation

        with _compiling:
            options = replace(self.options, output=str(path), emit=emit, **files)
            Compilation(options, given={self.source.name: self.source}).run()


def _interpreted(program: Any, error: HircError, options: Mapping[str, Any]) -> Callable[..., Any]:
    """Returns a program that is interpreted, or a model that torch runs, as it was not compiled.

    Raises the error where it is neither.
    """
    from .interpreted_call import InterpretedModel, InterpretedProgram
    from .interpreter import Interpreter

    entry = options.get("entry")
    with _compiling:
        if _source(program, entry or "main") is None:
            return InterpretedModel(program, error, entry or "main")
        try:
            interpreter = Interpreter(program, entry=entry)
        except InputError:
            # It has functions on tensors alone, which are not interpreted.
            raise error from None
        return InterpretedProgram(interpreter, _compiling, options.get("weights_from"))


def _targets(names: str | Sequence[str]) -> tuple[Target, ...]:
    given = names.split(",") if isinstance(names, str) else names
    targets: dict[Target, None] = {}
    for name in given:
        if name == "native":
            targets.update(dict.fromkeys(native_targets()))
        else:
            targets[Target.parse(name)] = None
    return tuple(targets)

"""What the user asked for, validated once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from ..dialects.records import dataclass
from .host import NATIVE, Host
from .sharding import Sharding
from .target import Target

# What the CPU device can check while a program runs.
CHECKS = ("memory", "race")
# The oldest GNU C library that can be linked for on a machine with a newer one.
OLDEST_GLIBC = "2.28"


class Emit(StrEnum):
    """What hirc writes."""

    EXE = "exe"
    SHARED = "shared"
    OBJECT = "object"
    LLVM = "llvm"
    BITCODE = "bitcode"
    DEVICE_LLVM = "device-llvm"
    DEVICE_BITCODE = "device-bitcode"
    PTX = "ptx"
    CUBIN = "cubin"
    SASS = "sass"
    ASM = "asm"
    HSACO = "hsaco"
    MLIR = "mlir"
    GRAPH = "graph"
    DOT = "dot"

    @property
    def is_linked(self) -> bool:
        return self in (Emit.EXE, Emit.SHARED)

    @property
    def is_host(self) -> bool:
        """Whether it is the host's code, of which a link makes the rest."""
        return self in (Emit.OBJECT, Emit.BITCODE, Emit.LLVM)

    @property
    def is_device(self) -> bool:
        """Whether it is device code alone, of one chip."""
        return self in _OF_DEVICE

    @property
    def is_picture(self) -> bool:
        """Whether it shows the program to a person, and nothing is made of the kernels."""
        return self in (Emit.GRAPH, Emit.DOT)

    @property
    def suffix(self) -> str:
        return _SUFFIXES[self]


# Code of one vendor's chips.
OF_NVIDIA = (Emit.PTX, Emit.CUBIN, Emit.SASS)
OF_AMD = (Emit.ASM, Emit.HSACO)
_OF_DEVICE = (Emit.DEVICE_LLVM, Emit.DEVICE_BITCODE, *OF_NVIDIA, *OF_AMD)
_SUFFIXES = {
    Emit.EXE: "",
    Emit.SHARED: ".so",
    Emit.OBJECT: ".o",
    Emit.LLVM: ".ll",
    Emit.BITCODE: ".bc",
    Emit.DEVICE_LLVM: ".device.ll",
    Emit.DEVICE_BITCODE: ".device.bc",
    Emit.PTX: ".ptx",
    Emit.CUBIN: ".cubin",
    Emit.SASS: ".sass",
    Emit.ASM: ".s",
    Emit.HSACO: ".hsaco",
    Emit.MLIR: ".mlir",
    Emit.GRAPH: ".html",
    Emit.DOT: ".dot",
}


class Products(StrEnum):
    """What computes matrix products; AUTO: what takes less time on GPUs, plain loops on a CPU.

    LIBRARY is cuBLASLt for those that no kernel computes in less time on a GPU, ALWAYS for all it
    can; OWN are kernels alone.
    """

    AUTO = "auto"
    LIBRARY = "library"
    ALWAYS = "always"
    OWN = "own"


class Convolutions(StrEnum):
    """What computes convolutions; AUTO: what takes less time on GPUs, kernels on a CPU.

    LIBRARY is cuDNN for all that it can compute; OWN are kernels alone.
    """

    AUTO = "auto"
    LIBRARY = "library"
    OWN = "own"


class Graphs(StrEnum):
    """Whether programs are replayed as device graphs; AUTO: on GPUs."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Schedules(StrEnum):
    """How operations on tensors become kernels; AUTO: tuned, but general with -O0.

    GENERAL makes one small kernel of each, which takes the least time to compile.
    """

    AUTO = "auto"
    TUNED = "tuned"
    GENERAL = "general"


class WeightStorage(StrEnum):
    """Where weights' values go; AUTO: EMBED where they are small, else EXTERNAL."""

    AUTO = "auto"
    EMBED = "embed"
    EXTERNAL = "external"


class StateStorage(StrEnum):
    """Where state is: each instance of the library keeps it, or callers pass it as inputs."""

    KEPT = "kept"
    INPUTS = "inputs"


# What is not linked with other device code.
_FINAL = (Emit.DEVICE_LLVM, *OF_NVIDIA, *OF_AMD)


class Float32Products(StrEnum):
    """What products of f32 operands may be computed of."""

    IEEE = "ieee"
    WINOGRAD = "winograd"
    TF32 = "tf32"
    BF16X3 = "bf16x3"


@dataclass(frozen=True)
class Options:
    """One run of the compiler."""

    inputs: tuple[str, ...]
    link_inputs: tuple[str, ...] = ()
    output: str | None = None
    emit: Emit = Emit.EXE
    targets: tuple[Target, ...] = ()
    opt_level: int = 2
    debug: bool = False
    fast_math: bool = False
    flush_denormals: bool = False
    float32_products: Float32Products = Float32Products.IEEE
    products: Products = Products.AUTO
    convolutions: Convolutions = Convolutions.AUTO
    schedules: Schedules = Schedules.AUTO
    # What was found to be the best configurations of classes of operations.
    tuning: Path | None = None
    graphs: Graphs = Graphs.AUTO
    overlap_steps: int = 0
    overlap_by_peers: bool = False
    # How torch models are spread over a mesh of devices.
    sharding: Sharding | None = None
    weights: WeightStorage = WeightStorage.AUTO
    weights_from: Path | None = None
    # The path, or an empty one for a file beside the output.
    header: Path | None = None
    pkg_config: Path | None = None
    state: StateStorage = StateStorage.KEPT
    device_libraries: tuple[Path, ...] = ()
    # Whether device code calls, and uses variables of, other units' device code.
    rdc: bool = False
    # The major version of the clang that finishes the build; None: of the one in use.
    for_clang: int | None = None
    # Prefixes of files' names, and what is written in their place.
    prefix_maps: tuple[tuple[str, str], ...] = ()
    # Where a CUDA for such a clang goes.
    cuda_folder: Path | None = None
    # The machines that what is made runs on.
    host: Host = NATIVE
    # The oldest GNU C library that what is linked runs with, `2.28`; None: this machine's.
    glibc: str | None = None
    # Whether the device code of what is linked is compressed.
    compress: bool = False
    checks: frozenset[str] = frozenset()
    entry: str = "main"
    bare_pointers: bool = False
    stop_after: str | None = None
    print_ir_after: str | None = None
    verify_each: bool = False
    save_temps: Path | None = None
    verbose: bool = False
    dry_run: bool = False
    time_report: bool = False
    fusion_report: bool = False
    schedule_report: bool = False
    cuda_path: Path | None = None
    rocm_path: Path | None = None
    clang: Path | None = None
    ptxas_arguments: tuple[str, ...] = ()
    ptxas_log: bool = False

    @property
    def describes_interface(self) -> bool:
        """Whether a header or a file for pkg-config is asked for."""
        return self.header is not None or self.pkg_config is not None

    @property
    def is_whole_program(self) -> bool:
        """Whether no device code is linked with that of the inputs, link inputs aside."""
        final = self.emit.is_linked or self.emit in _FINAL
        return final and not self.device_libraries

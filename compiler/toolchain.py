"""Finding clang, CUDA and ROCm: where each tool is, what is missing, and how to get it.

The environment is read here and nowhere else: HIRC_CLANG, HIRC_CUDA_PATH and HIRC_ROCM_PATH name
them, HIRC_CACHE_DIR is where compiled code is kept, HIRC_CACHE_BYTES how much of it,
HIRC_CPU_VECTORS which processors code of the CPU device is for, HIRC_HIP the HIP runtime that
programs load, SOURCE_DATE_EPOCH the time that
documents name.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from ..dialects.records import dataclass
from .errors import InputError, ToolchainError
from .host import NATIVE, Host
from .process import Finished, Runner, start

CLANG_OLDEST = 22
_ELF = b"\x7fELF"
# How CUDA's cross-compilation packages call the folders of a host.
_CUDA_HOSTS = {"x86_64": "x86_64-linux", "aarch64": "sbsa-linux"}
_VERSION_SECONDS = 30
CACHE_BYTES = 1 << 30
# ROCm's libraries of device functions, in the order in which one needs the next.
ROCM_FILES = ("ocml.bc", "ockl.bc")
# Of CUDA, what only a link for GPUs runs; without ptxas the driver compiles PTX.
STATIC_RUNTIME = "libcudart_static.a"
LINKING_PARTS = ("ptxas", "nvlink", "fatbinary")
CLANG_HINT = (
    "on Debian: apt-get install clang-22 lld-22 clang-tools-22; elsewhere LLVM 22 or newer with "
    "clang-linker-wrapper, then name it with --clang or HIRC_CLANG"
)
CUDA_HINT = (
    "pip install 'hirc[cuda]', or name an installed toolkit 13.0 with --cuda-path or HIRC_CUDA_PATH"
)
ROCM_HINT = (
    "on Debian: apt-get install rocm-device-libs; elsewhere ROCm 5.2 or newer, named with "
    "--rocm-path or HIRC_ROCM_PATH"
)
# Where a ROCm has its device libraries, below its root.
_ROCM_FOLDERS = ("amdgcn/bitcode", "lib/x86_64-linux-gnu/amdgcn/bitcode")


@dataclass(frozen=True)
class Clang:
    """A clang that can link offload programs."""

    path: Path
    version: str
    host: Host = NATIVE

    @property
    def command(self) -> list[str | Path]:
        """Returns how it is called: what it makes is for the host."""
        return [self.path, *self.host.clang_flags]

    @property
    def key(self) -> str:
        """What tells this clang's output from another's, for the cache."""
        return " ".join([self.version, *self.host.clang_flags])

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])

    @property
    def directory(self) -> Path:
        """Where clang's own tools are."""
        return self.path.resolve().parent


@dataclass(frozen=True)
class Cuda:
    """The parts of CUDA a build needs, under one root (a toolkit's or the pip packages')."""

    root: Path
    host: Host = NATIVE

    @property
    def ptxas(self) -> Path:
        return self.root / "bin" / "ptxas"

    @property
    def nvdisasm(self) -> Path | None:
        """The disassembler, of this CUDA or on the PATH; None where there is none."""
        own = self.root / "bin" / "nvdisasm"
        found = str(own) if own.is_file() else shutil.which("nvdisasm")
        return Path(found) if found is not None else None

    @property
    def nvlink(self) -> Path:
        return self.root / "bin" / "nvlink"

    @property
    def fatbinary(self) -> Path:
        return self.root / "bin" / "fatbinary"

    @property
    def libdevice(self) -> Path:
        return self.root / "nvvm" / "libdevice" / "libdevice.10.bc"

    @property
    def libraries(self) -> Path:
        """The folder with libcudart_static.a, or where it would be."""
        names = [f"targets/{_CUDA_HOSTS.get(self.host.processor)}/lib"]
        if self.host.is_native:
            names = ["lib", "lib64", *names]
        folders = [self.root / name for name in names]
        found = [folder for folder in folders if (folder / STATIC_RUNTIME).is_file()]
        return (found or folders)[0]

    @property
    def static_runtime(self) -> Path:
        return self.libraries / STATIC_RUNTIME

    def parts(self) -> dict[str, Path]:
        return {
            "ptxas": self.ptxas,
            "nvlink": self.nvlink,
            "fatbinary": self.fatbinary,
            "libdevice": self.libdevice,
            STATIC_RUNTIME: self.static_runtime,
        }

    def missing(self, optional: Collection[str] = ()) -> list[str]:
        """Returns the parts that are not there, but for those that may be missing."""
        parts = self.parts().items()
        return [name for name, path in parts if name not in optional and not path.is_file()]


@dataclass(frozen=True)
class Toolchain:
    """Everything a build runs or links; CUDA for NVIDIA's GPUs."""

    clang: Clang
    cuda: Cuda | None = None


class ClangSearch:
    """Looks for clang while other work goes on: a clang tells its version when it is run, unless
    the cache has it.
    """

    def __init__(self, given: Path | None = None) -> None:
        if given is None and "HIRC_CLANG" in os.environ:
            given = Path(os.environ["HIRC_CLANG"])
        self._given = given
        self._first = _found(given) if given is not None else next(clang_candidates(), None)
        self._asked = self._known = None
        if self._first is not None:
            self._known = _known_version(self._first)
        if self._first is not None and self._known is None:
            with suppress(ToolchainError):
                self._asked = start([str(self._first), "--version"])

    def result(self) -> Clang:
        """Returns the clang named, or the first of version 22 or later. Raises ToolchainError."""
        version = self._version()
        if self._given is not None:
            if self._first is None:
                raise ToolchainError(f"clang not found: {self._given}", hint=CLANG_HINT)
            return _checked_clang(self._first, version)
        for path in clang_candidates():
            if path != self._first:
                version = clang_version(path)
            if version is not None and int(version.partition(".")[0]) >= CLANG_OLDEST:
                return _with_wrapper(Clang(path, version))
        raise ToolchainError(f"no clang {CLANG_OLDEST} or newer found", hint=CLANG_HINT)

    def close(self) -> None:
        """Gives up what is still under way."""
        if self._asked is not None:
            self._asked.close()

    def _version(self) -> str | None:
        if self._asked is None or self._first is None:
            return self._known
        version = _printed_version(self._asked.finish(_VERSION_SECONDS))
        self._asked = None
        if version is not None:
            _keep_version(self._first, version)
        self._known = version
        return version


def find_clang(given: Path | None = None) -> Clang:
    """Returns the clang named, or the first of version 22 or later. Raises ToolchainError."""
    return ClangSearch(given).result()


def _found(name: Path) -> Path | None:
    path = shutil.which(str(name))
    return Path(path) if path is not None else None


def clang_candidates() -> Iterator[Path]:
    """Where a clang may be, best first."""
    for name in [f"clang-{major}" for major in (22, 23, 24)] + ["clang"]:
        path = shutil.which(name)
        if path is not None:
            yield Path(path)
    for folder in sorted(Path("/usr/lib").glob("llvm-*"), reverse=True):
        if (folder / "bin" / "clang").is_file():
            yield folder / "bin" / "clang"


def clang_version(path: Path) -> str | None:
    """Returns the version a clang prints, or None if it prints none."""
    return _printed_version(Runner().run([path, "--version"], timeout=_VERSION_SECONDS))


def _known_version(clang: Path) -> str | None:
    """Returns the version that the cache has of a clang."""
    # Imported late: the cache asks this module where it is.
    from .cache import kept

    name = _version_name(clang)
    found = kept(name) if name is not None else None
    return found.decode() if found is not None else None


def _keep_version(clang: Path, version: str) -> None:
    from .cache import cached

    name = _version_name(clang)
    if name is not None:
        cached(name, version.encode)


def _version_name(clang: Path) -> str | None:
    """Returns what the cache calls the version of a clang, while its file is what it is now."""
    state = program_state(clang)
    return None if state is None else f"clang-version-{state}"


def program_state(clang: Path) -> str | None:
    """Returns what tells a clang from others, and from itself once its file is another one.

    None for scripts, and for programs of other names: they run a clang that may change.
    """
    try:
        real = clang.resolve()
        if not real.name.startswith("clang"):
            return None
        with real.open("rb") as file:
            if file.read(len(_ELF)) != _ELF:
                return None
            status = os.fstat(file.fileno())
    except OSError:
        return None
    now = (real, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    return hashlib.sha256(repr(now).encode()).hexdigest()[:32]


def _printed_version(done: Finished) -> str | None:
    match = re.search(r"clang version (\d+\.\d+\.\d+)", done.output)
    return match[1] if match else None


def _checked_clang(path: Path, version: str | None) -> Clang:
    if version is None:
        raise ToolchainError(f"{path} is not clang: it prints no clang version", hint=CLANG_HINT)
    clang = Clang(path, version)
    if clang.major < CLANG_OLDEST:
        raise ToolchainError(
            f"{path} is clang {version}; version {CLANG_OLDEST} or newer is needed to read the IR",
            hint=CLANG_HINT,
        )
    return _with_wrapper(clang)


def _with_wrapper(clang: Clang) -> Clang:
    missing = [
        name
        for name in ("clang-linker-wrapper", "clang-nvlink-wrapper")
        if not (clang.directory / name).is_file()
    ]
    if missing:
        raise ToolchainError(f"{clang.path} lacks {' and '.join(missing)}", hint=CLANG_HINT)
    return clang


def find_cuda(
    given: Path | None = None, *, optional: Collection[str] = (), host: Host = NATIVE
) -> Cuda:
    """CUDA at the path named, or the pip packages', or a toolkit's. Raises ToolchainError.

    `optional` are parts that nobody will ask for, or that may be missing. CUDA's runtime is
    `host`'s.
    """
    if given is None and "HIRC_CUDA_PATH" in os.environ:
        given = Path(os.environ["HIRC_CUDA_PATH"])
    if given is not None:
        cuda = Cuda(given, host)
        if cuda.missing(optional):
            raise ToolchainError(
                f"CUDA at {given} lacks {', '.join(cuda.missing(optional))}", hint=_cuda_hint(host)
            )
        return cuda
    partial: Cuda | None = None
    for root in cuda_candidates():
        cuda = Cuda(root, host)
        if not cuda.missing(optional):
            return cuda
        if partial is None and len(cuda.missing(optional)) < len(cuda.parts()):
            partial = cuda
    if partial is not None:
        raise ToolchainError(
            f"CUDA at {partial.root} lacks {', '.join(partial.missing(optional))}",
            hint=_cuda_hint(host),
        )
    raise ToolchainError("no CUDA compiler tools found", hint=CUDA_HINT)


def _cuda_hint(host: Host) -> str:
    if host.is_native:
        return CUDA_HINT
    folder = f"targets/{_CUDA_HOSTS[host.processor]}/lib"
    return (
        f"for {host.processor} CUDA's runtime is looked for in {folder}, where NVIDIA's packages "
        "for cross-compilation put it; --cuda-path names such a CUDA"
    )


def cuda_candidates() -> Iterator[Path]:
    """Where CUDA may be, best first: the pip packages, then installed toolkits."""
    for entry in sys.path:
        yield from sorted(Path(entry or ".").glob("nvidia/cu1[3-9]"), reverse=True)
    for variable in ("CUDA_PATH", "CUDA_HOME"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    found = shutil.which("ptxas")
    if found is not None:
        yield Path(found).resolve().parent.parent
    yield Path("/usr/local/cuda")


def find_rocm(given: Path | None = None) -> Path:
    """The folder with ROCm's device libraries, at the path named or where they are installed.

    Raises ToolchainError.
    """
    if given is None and "HIRC_ROCM_PATH" in os.environ:
        given = Path(os.environ["HIRC_ROCM_PATH"])
    roots = [given] if given is not None else list(_rocm_candidates())
    for root in roots:
        for folder in (root, *(root / name for name in _ROCM_FOLDERS)):
            if all((folder / name).is_file() for name in ROCM_FILES):
                return folder
    if given is not None:
        raise ToolchainError(f"ROCm at {given} lacks {' and '.join(ROCM_FILES)}", hint=ROCM_HINT)
    raise ToolchainError("no ROCm device libraries found", hint=ROCM_HINT)


def _rocm_candidates() -> Iterator[Path]:
    """Where ROCm may be, best first."""
    if os.environ.get("ROCM_PATH"):
        yield Path(os.environ["ROCM_PATH"])
    yield Path("/opt/rocm")
    yield Path("/usr")
    yield from sorted(Path("/usr/lib/clang").glob("*"), reverse=True)


def cache_bytes() -> int:
    """Returns how many bytes the cache may hold. Raises InputError for what is no number."""
    text = os.environ.get("HIRC_CACHE_BYTES", "")
    if not text:
        return CACHE_BYTES
    if not text.isascii() or not text.isdecimal():
        raise InputError(f"HIRC_CACHE_BYTES is {text!r}, which is no number of bytes")
    return int(text)


def takes_wide_vectors() -> bool:
    """Returns whether code that is run here may be for processors with wider vectors."""
    return os.environ.get("HIRC_CPU_VECTORS") != "baseline"


def source_date() -> int | None:
    """Returns the time that stands for now in documents, in seconds since 1970, if one is given.

    Raises InputError where SOURCE_DATE_EPOCH is no such number.
    """
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 11:
        raise InputError(f"SOURCE_DATE_EPOCH is {text!r}, which is no number of seconds")
    return int(text)


def hip_runtime() -> str | None:
    """Returns the HIP runtime that is named for programs, if one is."""
    return os.environ.get("HIRC_HIP") or None


def trace_file() -> Path | None:
    """Returns where a trace goes, if one is wanted."""
    name = os.environ.get("HIRC_TRACE")
    return Path(name) if name else None


def cache_directory() -> Path | None:
    """Where compiled code is kept between runs; None where there is no home directory."""
    if os.environ.get("HIRC_CACHE_DIR"):
        return Path(os.environ["HIRC_CACHE_DIR"])
    try:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    except RuntimeError:
        return None
    return Path(base) / "hirc"

"""hirc's command line: parsing it into Options, and what needs no compilation."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from enum import Enum, StrEnum, auto
from pathlib import Path
from typing import Any

from .. import __version__
from ..compiler.errors import InputError
from ..compiler.host import HOSTS, NATIVE
from ..compiler.native import native_note, native_targets
from ..compiler.options import (
    CHECKS,
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
from ..compiler.sharding import parse_sharding
from ..compiler.target import CPU, Target
from ..dialects.records import dataclass
from .argument_parser import ArgumentParser, Once, path, written_path

_EPILOG = """\
inputs ending in .o, .a, .so, .bc or .ll, and -l and -L, go to the link; anything else is MLIR,
text or bytecode, and - is standard input.

examples:
  hirc prog.mlir -o prog --offload-arch=sm_90
  hirc layer.mlir -o liblayer.so --emit=shared
  hirc prog.mlir -o prog --offload-arch=cpu --check=memory,race
  hirc prog.mlir --emit=ptx --offload-arch=sm_90a -o -
  hirc a.mlir b.mlir helper.o -o prog --offload-arch=sm_80,sm_90
"""
_LINK_SUFFIXES = (".o", ".a", ".so", ".bc", ".ll")


class Action(Enum):
    """What to do."""

    COMPILE = auto()
    PRINT_PIPELINE = auto()
    DOCTOR = auto()
    DESCRIBE = auto()


@dataclass(frozen=True)
class Request:
    """A parsed command line."""

    action: Action
    options: Options
    # What to describe, and whether as JSON.
    described: tuple[str, ...] = ()
    as_json: bool = False
    as_spdx: bool = False


def parse_arguments(arguments: Sequence[str]) -> Request:
    """Parses a command line. Raises InputError for one that is wrong."""
    parser = _make_parser()
    values = parser.parse_intermixed_args(list(arguments))
    inputs = tuple(name for name in values.inputs if not name.endswith(_LINK_SUFFIXES))
    action = Action.COMPILE
    if values.doctor:
        action = Action.DOCTOR
    elif values.print_pipeline:
        action = Action.PRINT_PIPELINE
    elif values.describe:
        action = Action.DESCRIBE
        if not values.inputs:
            raise InputError("--describe takes files", hint="hirc --describe prog")
    if values.json and not values.describe:
        raise InputError("--json goes with --describe")
    if values.spdx and (not values.describe or values.json or len(values.inputs) != 1):
        raise InputError(
            "--spdx goes with --describe of one file", hint="hirc --describe --spdx prog"
        )
    if not re.fullmatch(r"[^\s{}(),=]+", values.entry):
        raise InputError(f"--entry takes a function's name, not '{values.entry}'")
    if values.output == "":
        raise InputError("-o takes a file's name, or - for standard output")
    if inputs.count("-") > 1:
        raise InputError("standard input can be read once only")
    emit = Emit(values.emit)
    options = Options(
        inputs=inputs,
        link_inputs=tuple(_in_order(arguments, values)),
        output=values.output,
        emit=emit,
        targets=_targets(values.offload_arch, action),
        opt_level=values.opt_level,
        debug=values.debug,
        fast_math=values.fast_math,
        flush_denormals=values.ftz,
        float32_products=Float32Products(values.float32_products),
        products=Products(values.products),
        convolutions=Convolutions(values.convolutions),
        schedules=Schedules(values.schedules),
        tuning=values.tuning,
        graphs=Graphs(values.graph),
        overlap_steps=values.overlap_steps,
        overlap_by_peers=values.overlap_by_peers,
        sharding=parse_sharding(values.mesh, values.sharding),
        weights=WeightStorage(values.weights),
        weights_from=values.weights_from,
        header=values.emit_header,
        pkg_config=values.emit_pkg_config,
        state=StateStorage(values.state),
        device_libraries=tuple(values.device_lib),
        checks=_checks(values.check),
        entry=values.entry,
        bare_pointers=values.kernel_bare_pointers,
        stop_after=values.stop_after,
        print_ir_after=values.print_ir_after,
        verify_each=values.verify_each,
        save_temps=values.save_temps,
        verbose=values.verbose,
        dry_run=values.dry_run,
        time_report=values.time_report,
        fusion_report=values.fusion_report,
        schedule_report=values.schedule_report,
        cuda_path=values.cuda_path,
        rocm_path=values.rocm_path,
        clang=values.clang,
        ptxas_arguments=tuple(values.ptxas_arg),
        ptxas_log=values.ptxas_log,
        host=HOSTS[values.host] if values.host is not None else NATIVE,
        glibc=values.glibc,
        compress=values.offload_compress,
        rdc=values.offload_rdc,
        for_clang=values.for_clang,
        cuda_folder=values.emit_cuda,
        prefix_maps=tuple(map(_prefix_map, values.file_prefix_map)),
    )
    return Request(action, options, tuple(values.inputs), values.json, values.spdx)


def _in_order(arguments: Sequence[str], values: argparse.Namespace) -> list[str]:
    """Link inputs and flags in the order given: archives resolve what comes before them."""
    files = {name for name in values.inputs if name.endswith(_LINK_SUFFIXES)}
    ordered: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in ("-l", "-L"):
            ordered.append(word + next(words, ""))
        elif word in files or word.startswith(("-l", "-L")):
            ordered.append(word)
    return ordered


def _targets(names: list[str], action: Action) -> tuple[Target, ...]:
    targets: dict[Target, None] = {}
    for name in ",".join(names).split(","):
        if name == "native" and action is Action.COMPILE:
            found = native_targets()
            if found == (CPU,):
                print(native_note(), file=sys.stderr)
            targets.update(dict.fromkeys(found))
        elif name and name != "native":
            targets[Target.parse(name)] = None
    return tuple(targets)


def _prefix_map(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals or not old:
        raise InputError(f"--file-prefix-map takes OLD=NEW, not '{text}'")
    return old, new


def _checks(lists: list[str]) -> frozenset[str]:
    names = {name for name in ",".join(lists).split(",") if name}
    unknown = sorted(names.difference(CHECKS))
    if unknown:
        raise InputError(
            f"unknown check '{unknown[0]}'", hint=f"the checks are {' and '.join(CHECKS)}"
        )
    return frozenset(names)


def _make_parser() -> argparse.ArgumentParser:
    parser = ArgumentParser(
        prog="hirc",
        description="Compiles tensor and GPU programs, in MLIR, to executables and libraries.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add: Any = parser.add_argument

    def choice(name: str, default: StrEnum, text: str) -> None:
        add(name, choices=[str(each) for each in type(default)], default=str(default), help=text)

    add("inputs", nargs="*", type=written_path, metavar="INPUT")
    add("-o", dest="output", metavar="FILE", help="where the output goes (- is standard output)")
    choice("--emit", Emit.EXE, "what to make")
    for flag, what in (("header", "a C header of the programs"), ("pkg-config", "their .pc file")):
        add(
            f"--emit-{flag}",
            nargs="?",
            const=Path(),
            type=path,
            metavar="FILE",
            help=f"write {what} too, beside a library that is written",
        )
    add(
        "--offload-arch",
        action="append",
        default=[],
        metavar="ARCH[,ARCH...]",
        help="the chips to make device code for: sm_80, sm_90, sm_90a, ...; compute_90 is PTX for "
        "the driver; gfx90a, gfx942, gfx1100; native asks the driver; cpu is the CPU device, "
        "cpu:gfx90a with that chip's code",
    )
    for level in range(4):
        add(
            f"-O{level}",
            dest="opt_level",
            action="store_const",
            const=level,
            default=2,
            help=argparse.SUPPRESS if level else "-O0 to -O3: optimisation level (2)",
        )
    add("-g", dest="debug", action="store_true", help="line tables, on the host and in device code")
    add(
        "--check",
        action="append",
        default=[],
        metavar="CHECK[,CHECK...]",
        help="on the CPU device, find wrong accesses while the program runs: memory, race",
    )
    add("--fast-math", action="store_true", help="let floating point be approximate")
    add("--ftz", action="store_true", help="flush f32 denormals to zero in device code")
    choice(
        "--float32-products",
        Float32Products.IEEE,
        "what f32 products are: of f32 operands (ieee), of fewer of these in convolutions "
        "(winograd), of those of convolutions and of cuBLASLt's products rounded to tf32, or "
        "three of bf16 (bf16x3)",
    )
    choice(
        "--products",
        Products.AUTO,
        "what computes matrix products: kernels (own), cuBLASLt, or whichever takes less time "
        "(auto; library: as for GPUs on the CPU device too)",
    )
    choice(
        "--convolutions",
        Convolutions.AUTO,
        "what computes convolutions: kernels (own), cuDNN (library), or whichever is known to take "
        "less time (auto)",
    )
    choice(
        "--schedules",
        Schedules.AUTO,
        "the kernels of tensor operations (auto: tuned, but general with -O0)",
    )
    add(
        "--tuning",
        type=path,
        metavar="FILE",
        help="the best configurations that hirc.tools.tune found for classes of operations",
    )
    choice(
        "--graph",
        Graphs.AUTO,
        "whether programs are recorded as device graphs and replayed (auto: on GPUs)",
    )
    add(
        "--overlap-steps",
        type=int,
        default=0,
        metavar="N",
        help="in how many steps at most communications and products overlap (1: they do not; 0, "
        "the default: as many as take the least time by the chip's figures)",
    )
    add(
        "--overlap-by-peers",
        action="store_true",
        help="products and the allgathers and reduce-scatters beside them always go by memory that "
        "devices share (otherwise where that takes the least time by the chip's figures)",
    )
    add(
        "--mesh",
        action=Once,
        metavar="N[,N...]",
        help="the mesh that a torch model is spread over",
    )
    add(
        "--sharding",
        action="append",
        default=[],
        metavar="NAME=PLACEMENT[,PLACEMENT...]",
        help="how an input, weight or output of a torch model is spread over each axis of the "
        "mesh: axis:N, whole or partial:sum; NAME may be a pattern",
    )
    add(
        "--weights-from",
        type=path,
        metavar="FILE",
        help="the weights' values: a .safetensors file, or the .json index of several",
    )
    choice(
        "--weights",
        WeightStorage.AUTO,
        "whether what is built holds the weights, or a .safetensors file beside it (auto: up "
        "to 64 MiB are embedded)",
    )
    choice(
        "--state",
        StateStorage.KEPT,
        "whether each instance of what is built keeps the state, or it is inputs",
    )
    add(
        "--for-clang",
        type=int,
        metavar="VERSION",
        help="the clang that finishes an object, bitcode or LLVM IR: 16 to 23",
    )
    add(
        "--file-prefix-map",
        action="append",
        default=[],
        metavar="OLD=NEW",
        help="what files' names begin with, and what is written instead",
    )
    add(
        "--emit-cuda",
        type=path,
        metavar="DIRECTORY",
        help="with --for-clang, write a folder that clang 16 to 21 take as CUDA 13",
    )
    add(
        "--host",
        choices=list(HOSTS),
        help="the machines that what is made runs on (this one's kind)",
    )
    add(
        "--glibc",
        metavar="VERSION",
        help="the oldest glibc that what is linked runs with, from 2.28 on (this machine's)",
    )
    add(
        "--offload-compress",
        action="store_true",
        help="compress the device code of what is linked",
    )
    add(
        "--offload-rdc",
        action="store_true",
        help="let device code call, and be called by, that of other units and objects",
    )
    add(
        "--device-lib",
        action="append",
        type=path,
        default=[],
        metavar="FILE.bc",
        help="bitcode that defines device functions; may be given several times",
    )
    add("--entry", default="main", metavar="NAME", help="the function an executable runs (main)")
    add(
        "--kernel-bare-pointers",
        action="store_true",
        help="pass memrefs to kernels as bare pointers, not descriptors",
    )
    add(
        "--ptxas-arg",
        action="append",
        default=[],
        metavar="ARG",
        help="pass an argument to ptxas; may be given several times",
    )
    add("-l", action="append", metavar="LIBRARY", help="link with a library")
    add("-L", action="append", metavar="DIRECTORY", help="where -l looks")
    add("--cuda-path", type=path, metavar="DIRECTORY", help="the CUDA to use")
    add(
        "--rocm-path",
        type=path,
        metavar="DIRECTORY",
        help="the ROCm whose device libraries are used for AMD's chips",
    )
    add(
        "--describe",
        action="store_true",
        help="print what files hold: programs, chips, device code, weights, how they were made",
    )
    add("--json", action="store_true", help="as JSON, with --describe")
    add("--spdx", action="store_true", help="as a bill of materials (SPDX), with --describe")
    add("--clang", type=path, metavar="PATH", help="the clang to link with (22 or newer)")
    inside = parser.add_argument_group("to look inside")
    look: Any = inside.add_argument
    look("--stop-after", metavar="STAGE", help="write the MLIR after a stage and stop")
    look("--print-pipeline", action="store_true", help="print the passes, as hirc-opt takes them")
    look(
        "--print-ir-after",
        metavar="PASS|all|changed",
        help="print the MLIR after passes to standard error",
    )
    look(
        "--verify-each",
        action="store_true",
        help="verify the MLIR after each pass, not each stage: names a pass that makes it invalid",
    )
    look(
        "--save-temps",
        nargs="?",
        const=Path("."),
        type=path,
        metavar="DIR",
        help="keep every intermediate file",
    )
    look("-v", dest="verbose", action="store_true", help="print the commands that run")
    look("-###", dest="dry_run", action="store_true", help="print the commands, run none")
    look(
        "--ptxas-log",
        action="store_true",
        help="what ptxas says of each kernel: registers, memory, spills; to standard error",
    )
    look("--time-report", action="store_true", help="where the time went, to standard error")
    look(
        "--schedule-report",
        action="store_true",
        help="what was decided of each kernel, to standard error",
    )
    look(
        "--fusion-report",
        action="store_true",
        help="what became one kernel, and why not more, to standard error",
    )
    look("--doctor", action="store_true", help="each tool and library: where, version, or missing")
    look("--version", action="version", version=f"hirc {__version__}")
    return parser

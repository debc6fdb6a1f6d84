"""What can be wrong with a command line besides its words: files, and what goes together."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from .errors import InputError
from .offload_annotations import layout_for
from .options import OLDEST_GLIBC, Emit, Options
from .output import make_folder, refuse_overwriting
from .source import check_readable, file_of
from .target import Devices, check_together


def check_options(options: Options, given: Collection[str]) -> None:
    """Finds what can be wrong before anything is compiled; `given` are inputs that are no files.

    Raises InputError.
    """
    _check_interface(options)
    if options.overlap_steps < 0:
        raise InputError(f"--overlap-steps is 0 or more, not {options.overlap_steps}")
    _check_targets(options)
    _check_consumer(options)
    _check_host(options)
    _check_glibc(options)
    for library in options.device_libraries:
        check_readable(library)
    if options.weights_from is not None:
        check_readable(options.weights_from)
    if options.tuning is not None:
        check_readable(options.tuning)
    if options.output is not None:
        files = [
            *map(file_of, options.inputs),
            *options.link_inputs,
            *map(str, options.device_libraries),
        ]
        if options.weights_from is not None:
            files.append(str(options.weights_from))
        if options.tuning is not None:
            files.append(str(options.tuning))
        refuse_overwriting(options.output, files)
    stems = [Path(name).stem for name in options.inputs]
    twice = next((stem for stem in stems if stems.count(stem) > 1), None)
    if twice is not None and (options.save_temps or not options.emit.is_linked):
        raise InputError(
            f"two inputs are called {twice}, and so would be the files made of them",
            hint="compile them one at a time, with -o",
        )
    if options.save_temps is not None and not options.dry_run:
        make_folder(options.save_temps)
    for name in map(file_of, options.inputs):
        if (
            name not in given
            and name != "-"
            and not (Path(name).exists() and not Path(name).is_file())
        ):
            check_readable(Path(name))


def _check_interface(options: Options) -> None:
    """Checks that a header or a file for pkg-config can be written."""
    has_programs = options.emit is Emit.SHARED or options.emit.is_host
    if options.header is not None and (not has_programs or options.stop_after is not None):
        raise InputError(
            "--emit-header goes with a library: --emit=shared, object, bitcode or llvm"
        )
    if options.pkg_config is not None and options.emit is not Emit.SHARED:
        raise InputError("--emit-pkg-config goes with --emit=shared")


def _check_consumer(options: Options) -> None:
    """Checks that there is something for another clang to finish, and one that is known."""
    if options.for_clang is None:
        if options.cuda_folder is not None:
            raise InputError("--emit-cuda goes with --for-clang")
        return
    if not options.emit.is_host or options.stop_after is not None:
        raise InputError(
            "--for-clang goes with --emit=object, bitcode or llvm: hirc links the rest"
        )
    if any(target.is_cpu for target in options.targets):
        raise InputError("--for-clang: hirc itself links what is for the CPU device")
    layout_for(options.for_clang)


def _check_host(options: Options) -> None:
    """Checks that the chips are said where they are another machine's."""
    if not options.host.is_native and not options.targets and not options.emit.is_picture:
        raise InputError(
            "--host makes what runs on another machine, whose chips hirc cannot ask for",
            hint="--offload-arch names them; cpu is its CPU device",
        )


def _check_glibc(options: Options) -> None:
    """Checks that something is linked, for a release that can be linked for."""
    if options.glibc is None:
        return
    if options.host.processor != "x86_64":
        raise InputError("--glibc is for x86-64 hosts; others need this machine's cross glibc")
    if not options.emit.is_linked or options.stop_after is not None:
        raise InputError("--glibc goes with --emit=exe or shared: who links decides")
    match = re.fullmatch(r"2\.(\d{1,3})", options.glibc)
    if match is None or int(match[1]) < int(OLDEST_GLIBC.partition(".")[2]):
        raise InputError(
            f"--glibc takes a release of GNU's C library from {OLDEST_GLIBC} on, "
            f"not '{options.glibc}'"
        )


def _check_targets(options: Options) -> None:
    """Checks that what is to be written can have PTX in it."""
    emit = options.emit
    if options.rdc and any(target.is_cpu for target in options.targets):
        raise InputError(
            "--offload-rdc is for GPUs: units for the CPU device are compiled by themselves",
            hint="--device-lib gives them device functions, as bitcode of --emit=device-bitcode",
        )
    check_together(options.targets)
    _check_amd(options)
    if emit.is_linked or emit is Emit.PTX or options.stop_after is not None:
        return
    for target in options.targets:
        if target.is_ptx and (emit.is_host or emit in (Emit.CUBIN, Emit.SASS, Emit.MLIR)):
            why = "clang's link keeps no PTX" if emit.is_host else "it is for machine code"
            raise InputError(
                f"--offload-arch={target.arch} does not go with --emit={emit}: {why}",
                hint=f"--offload-arch={target.chip}, or --emit=exe or shared, or --emit=ptx",
            )


def _check_amd(options: Options) -> None:
    """Checks that others can finish what is for AMD's chips, and what is linked for them is."""
    devices = Devices.of(options.targets)
    if Devices.AMD not in devices:
        return
    if options.emit.is_host and devices.are_several and options.stop_after is None:
        raise InputError(
            f"--emit={options.emit} is for chips of one maker: hirc itself links what chooses "
            "between them",
            hint="--emit=exe or shared, or a file for each kind",
        )
    if options.compress and options.emit.is_linked and Devices.GPUS not in devices:
        raise InputError("--offload-compress is for NVIDIA's chips: AMD's code is kept as it is")

"""Device code that is linked beside other work: kernels and variables are those of clang's link."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from llvmlite.binding import create_context, parse_bitcode

from hirc.compiler import process
from hirc.compiler.device_link.images import DeviceLink
from hirc.compiler.executable import read_linked_file
from hirc.compiler.process import Finished, Running
from hirc.compiler.toolchain import find_clang
from hirc.tools.command import Command
from support.driver import ARCH, PROGRAM, Hirc, cuda_with, write
from support.linked_units import CALLS, TWICE
from support.stand_in import stand_in_cuda

_PROGRAMS = Path(__file__).parent.parent / "programs"
_VARIABLES = _PROGRAMS / "device_global.mlir"
# Loads a library, and unloads it.
_LOAD = """
import _ctypes, ctypes, os, sys
library = ctypes.CDLL(sys.argv[1], mode=os.RTLD_LAZY)
print("loaded", flush=True)
_ctypes.dlclose(library._handle)
"""


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the programs that are started."""
    names: list[str] = []
    begin = process.start

    def noted(words: Sequence[str], **options: object) -> Running:
        # The device linker, and then ptxas, by a shell.
        names.append(Path(words[4] if words[0] == "sh" else words[0]).name)
        return begin(words, **options)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr("hirc.compiler.process.start", noted)
    return names


@pytest.fixture
def sources(tmp_path: Path) -> dict[str, list[Path]]:
    """Programs: of one unit, with variables, and of several units with device code and without."""
    units = [write(tmp_path, "k.mlir", CALLS), write(tmp_path, "twice.mlir", TWICE)]
    saxpy = [_PROGRAMS / f"saxpy_{name}.mlir" for name in ("kernel", "main")]
    one = write(tmp_path, "prog.mlir", PROGRAM)
    return {"one": [one], "variables": [_VARIABLES], "rdc": units, "saxpy": saxpy}


def _by_clang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hirc.compiler.driver.may_do_without_clang", _never)


def _never(_: object) -> bool:
    return False


def _section(file: Path, name: str, folder: Path) -> bytes:
    copy, output = folder / f"{name}.dump", folder / "copy"
    objcopy = find_clang().directory / "llvm-objcopy"
    subprocess.run([objcopy, f"--dump-section={name}={copy}", file, output], check=True)
    return copy.read_bytes()


def _images(fatbin: bytes) -> list[bytes]:
    """Returns the images of a container, each with its header."""
    images: list[bytes] = []
    at = 16
    while at < len(fatbin):
        header, size = struct.unpack_from("<IQ", fatbin, at + 4)
        images.append(fatbin[at : at + header + size])
        at += header + size
    return images


def test_code_for_the_very_chip_comes_first(hirc: Hirc, tmp_path: Path) -> None:
    """Where the driver may take either, it meets that one first, as in what clang links."""
    source, output = write(tmp_path, "prog.mlir", PROGRAM), tmp_path / "out"
    for words in (
        ["--offload-arch=sm_80,sm_90,sm_90a"],
        ["--offload-arch=sm_80,sm_90,sm_90a", "-v"],
    ):
        hirc.succeeds(source, *words, "-o", output)
        chips = [image.arch for image in read_linked_file(output).images]
        assert chips.index("sm_90a") < chips.index("sm_90")


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("one", [ARCH]),
        ("one", ["--offload-arch=sm_90a,sm_80,sm_90", "--emit=shared"]),
        ("one", ["--offload-arch=sm_90,cpu"]),
        ("one", [ARCH, "-O0"]),
        ("variables", [ARCH, "-O3"]),
        ("rdc", [ARCH, "--offload-rdc"]),
        ("saxpy", [ARCH]),
    ],
)
def test_the_machine_code_has_what_clangs_has(
    hirc: Hirc,
    tmp_path: Path,
    sources: dict[str, list[Path]],
    ran: list[str],
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    words: list[str],
) -> None:
    output = tmp_path / "out"

    def made() -> tuple[list[bytes], int]:
        ran.clear()
        hirc.succeeds(*sources[program], *words, "-o", output)
        entries = _section(output, "llvm_offload_entries", tmp_path)
        # These have addresses, which the dynamic linker fills.
        return _images(_section(output, ".nv_fatbin", tmp_path)), len(entries)

    made()
    ours = made()
    chips = words[0].count("sm_")
    assert ran == [*["clang-nvlink-wrapper"] * chips, "ld.lld"]
    _by_clang(monkeypatch)
    theirs = made()
    assert ran[-1] == "clang-linker-wrapper"
    # clang has them in an order of its own.
    assert (_contents(ours[0]), ours[1]) == (_contents(theirs[0]), theirs[1])


def _contents(images: Sequence[bytes]) -> list[tuple[int, set[bytes]]]:
    """The chip of each image, and the sections of its functions and variables."""
    return sorted((struct.unpack_from("<I", image, 28)[0], _names(image)) for image in images)


def _names(image: bytes) -> set[bytes]:
    names = set(re.findall(rb"\0(\.(?:text|nv\.global)[\w$.]*)(?=\0)", image))
    return names - {name for name in names if b"__cuda_sm" in name}


_DIVIDES = """\
gpu.module @kernels {
  gpu.func @divides(%x: memref<8xi64>) kernel {
    %i = gpu.thread_id x
    %0 = memref.load %x[%i] : memref<8xi64>
    %c0 = arith.constant 0 : index
    %1 = memref.load %x[%c0] : memref<8xi64>
    %2 = arith.divui %0, %1 : i64
    memref.store %2, %x[%i] : memref<8xi64>
    gpu.return
  }
}
func.func @main() {
  return
}
"""


def test_no_machine_code_is_left_to_be_linked(
    hirc: Hirc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where some is, a division calls a function, and keeps its caller from most registers."""
    source, output = write(tmp_path, "prog.mlir", _DIVIDES), tmp_path / "out"
    division = b".text.__cuda_sm20_div_u64"
    hirc.succeeds(source, ARCH, "-o", output)
    assert division not in _section(output, ".nv_fatbin", tmp_path)
    _by_clang(monkeypatch)
    hirc.succeeds(source, ARCH, "-o", output)
    assert division in _section(output, ".nv_fatbin", tmp_path)


_ROOTS = """\
gpu.module @kernels {
  gpu.func @roots(%x: memref<8xf32>) kernel {
    %i = gpu.thread_id x
    %0 = memref.load %x[%i] : memref<8xf32>
    %1 = math.sqrt %0 : f32
    memref.store %1, %x[%i] : memref<8xf32>
    gpu.return
  }
}
func.func @main() {
  return
}
"""


@pytest.mark.parametrize(
    ("words", "passes", "root"),
    [
        ([], "default<O2>", "nvvm.sqrt.rn.f"),
        (["-O1", "--fast-math"], "default<O1>", "nvvm.sqrt.approx.f"),
        (["--offload-rdc"], None, "nvvm.sqrt.rn.f"),
    ],
)
def test_the_link_optimises_where_nothing_else_is_linked(
    hirc: Hirc,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    passes: str | None,
    root: str,
) -> None:
    """What libdevice asks of the options is answered before: the link does not know them."""
    texts: list[str] = []
    commands: list[list[str]] = []
    add, give = DeviceLink.add, Running.give

    def added(link: DeviceLink, images: Iterable[tuple[str, bytes]]) -> None:
        found = [*images]
        texts.extend(str(parse_bitcode(data, create_context())) for _, data in found)
        add(link, found)

    def given(early: Running, arguments: Sequence[str]) -> None:
        commands.append([*arguments])
        give(early, arguments)

    monkeypatch.setattr(DeviceLink, "add", added)
    monkeypatch.setattr(Running, "give", given)
    source = write(tmp_path, "prog.mlir", _ROOTS)
    hirc.succeeds(source, ARCH, *words, "-o", tmp_path / "out")
    (text,), (command,) = texts, commands
    assert root in text
    assert "nvvm_reflect" not in text
    named = [word for word in command if word.startswith("--lto-newpm-passes")]
    assert named == ([] if passes is None else [f"--lto-newpm-passes={passes}"])


@pytest.mark.parametrize("program", ["one", "variables"])
def test_it_registers_what_clangs_code_registers(
    hirc: Hirc,
    clang: Path,
    tmp_path: Path,
    sources: dict[str, list[Path]],
    monkeypatch: pytest.MonkeyPatch,
    program: str,
) -> None:
    cuda = stand_in_cuda(tmp_path, clang)

    def registered(name: str) -> list[str]:
        library = tmp_path / name
        words = [f"--cuda-path={cuda}", "--emit=shared", ARCH]
        hirc.succeeds(*sources[program], *words, "-o", library)
        done = subprocess.run(
            [sys.executable, "-c", _LOAD, library],
            # Functions that the stand-in lacks are looked for when they are called.
            env={**os.environ, "STAND_IN_SHOWS": "1"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    ours = registered("ours.so")
    _by_clang(monkeypatch)
    theirs = registered("theirs.so")
    # They differ in how long the machine code is.
    assert [re.sub(r" \d+:", "", line) for line in ours] == [
        re.sub(r" \d+:", "", line) for line in theirs
    ]
    head, *entries, end, loaded, last = ours
    shown = "0x466243b1 1 0xba55ed50"
    assert head.startswith(f"container {shown}")
    assert end.startswith(f"end {shown}")
    assert (loaded, last.startswith(f"no more {shown}")) == ("loaded", True)
    assert len(entries) == (1 if program == "one" else 3)


def test_no_device_code(hirc: Hirc, tmp_path: Path, ran: list[str]) -> None:
    source = write(tmp_path, "prog.mlir", "func.func @main() { return }")
    hirc.succeeds(source, ARCH, "-o", tmp_path / "prog")
    ran.clear()
    hirc.succeeds(source, ARCH, "-o", tmp_path / "prog")
    # The first was started before it was known that there is nothing to do.
    assert ran == ["clang-nvlink-wrapper", "ld.lld"]
    assert subprocess.run([tmp_path / "prog"], check=False, timeout=60).returncode == 0


def test_an_object_of_the_user_is_clangs(
    hirc: Hirc, clang: Path, tmp_path: Path, ran: list[str]
) -> None:
    """It may have device code."""
    source = write(tmp_path, "a.c", "int nobody_calls;\n")
    subprocess.run([clang, "-c", source, "-o", tmp_path / "a.o"], check=True)
    program = write(tmp_path, "prog.mlir", PROGRAM)
    hirc.succeeds(program, tmp_path / "a.o", ARCH, "-o", tmp_path / "prog")
    assert ran[-1] == find_clang().path.name
    assert "clang-nvlink-wrapper" not in ran


@pytest.mark.parametrize("words", [["-v"], ["--save-temps=kept"], ["--offload-compress"], ["-g"]])
def test_what_is_left_to_clang(
    hirc: Hirc, tmp_path: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    source = write(tmp_path, "prog.mlir", PROGRAM)
    hirc.succeeds(source, ARCH, *words, "-o", tmp_path / "prog")
    assert "clang-nvlink-wrapper" not in ran


def test_a_link_that_fails_is_clangs(
    hirc: Hirc, tmp_path: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ptxas refuses to work beside this process, and works for clang."""
    source, output = write(tmp_path, "prog.mlir", PROGRAM), tmp_path / "prog"
    once = f'[ -e {tmp_path}/once ] || {{ touch {tmp_path}/once; exit 1; }}\nexec "$REAL" "$@"'
    (tmp_path / "cuda").mkdir()
    cuda = cuda_with(tmp_path / "cuda", once)
    hirc.succeeds(source, ARCH, f"--cuda-path={cuda}", "-o", output)
    assert ran.index("clang-nvlink-wrapper") < ran.index("clang-linker-wrapper")
    assert "ld.lld" not in ran
    assert (tmp_path / "once").exists()
    assert _section(output, ".nv_fatbin", tmp_path)
    # Where what clang said that it runs cannot be run.
    monkeypatch.setattr("hirc.compiler.device_link.images.direct_command", _nothing)
    hirc.succeeds(source, ARCH, "-o", output)


def test_arguments_for_ptxas_are_not_lost(
    hirc: Hirc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """clang hands ptxas none, so what cannot be linked without it is an error."""
    source, output = write(tmp_path, "prog.mlir", PROGRAM), tmp_path / "prog"
    words = [ARCH, "--ptxas-arg=--maxrregcount=24", "-o", output]
    hirc.succeeds(source, *words)
    monkeypatch.setattr("hirc.compiler.device_link.images.direct_command", _nothing)
    errors = hirc.fails(source, *words)
    assert "error: the device code could not be linked with arguments for ptxas" in errors
    assert "hint: with -v clang links it" in errors


def _nothing(*_: object, **__: object) -> list[str]:
    return ["/no/such/program"]


def test_arguments_come_late(tmp_path: Path) -> None:
    """A program of LLVM is given any words while it waits."""
    folder = tmp_path / "a \"b\" 'c' \\d"
    folder.mkdir()
    source, output = write(folder, "f.ll", "define void @f() { ret void }"), folder / "f.o"
    words = ["-c", str(source), "-o", str(output)]
    running = process.start_early([str(find_clang().path), process.ARGUMENTS], tmp_path)
    running.give(words)
    assert running.finish().status == 0
    assert output.is_file()
    # It may end before.
    running = process.start_early(["/bin/false"], tmp_path)
    time.sleep(0.1)
    running.give(words)
    assert running.finish().status == 1


def _runs(group: int) -> bool:
    """Returns whether processes of a group run, those that ended and nobody waits for aside."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, of_group = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(of_group) == group and state not in "ZX":
            return True
    return False


def _ends(group: int) -> bool:
    end = time.monotonic() + 10
    while _runs(group) and time.monotonic() < end:
        time.sleep(0.01)
    return not _runs(group)


_TWO_SLEEP = ["sh", "-c", "sleep 1000 & echo $$; sleep 1000"]


@pytest.mark.parametrize("place", ["unit.device_module", "driver.host_object"])
def test_what_is_given_up_ends_with_all_that_it_started(
    hirc: Hirc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """As where device code cannot be made, or host code while ptxas works."""
    groups: list[int] = []
    begin = process.start

    def sleeps(words: Sequence[str], **options: object) -> Running:
        running = begin(_TWO_SLEEP, **options)  # pyright: ignore[reportArgumentType]
        groups.append(running._process.pid)  # pyright: ignore[reportPrivateUsage]
        return running

    monkeypatch.setattr("hirc.compiler.process.start", sleeps)
    monkeypatch.setattr("hirc.compiler.process.Running.give", _nothing)
    monkeypatch.setattr(f"hirc.compiler.{place}", _refuses)
    source = write(tmp_path, "prog.mlir", PROGRAM)
    words = ["--offload-arch=sm_90,sm_80", "-o", tmp_path / "prog"]
    assert "no space" in hirc.fails(source, *words)
    # The first one is early.
    assert len(groups) == (2 if place == "driver.host_object" else 1)
    assert all(map(_ends, groups))


def _refuses(*_: object, **__: object) -> bytes:
    raise OSError(28, "no space")


def test_a_process_that_ends_without_a_word_leaves_none(tmp_path: Path) -> None:
    """Whoever watches it ends what ran beside it."""
    noted = tmp_path / "group"

    def crashes() -> int:
        running = process.start(_TWO_SLEEP, is_group=True)
        noted.write_text(str(running._process.pid))  # pyright: ignore[reportPrivateUsage]
        os.kill(os.getpid(), 9)
        return 0

    _, log = Command("hirc", []).watched(crashes)
    assert log.groups == {int(noted.read_text())}
    assert _ends(int(noted.read_text()))


def test_processes_that_ended_are_not_noted_any_more() -> None:
    def works() -> int:
        done: Finished = process.start(["true"], is_group=True).finish()
        return done.status

    _, log = Command("hirc", []).watched(works)
    assert log.groups == set()

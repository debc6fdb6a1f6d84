"""Links without clang: what is made is what clang makes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from hirc.compiler.direct_link import direct_command
from hirc.compiler.process import Finished, Runner
from hirc.compiler.toolchain import Clang, Cuda, find_clang
from support.driver import ARCH, PROGRAM, Hirc, write


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that are run: each program's name and its last argument."""
    commands: list[str] = []
    run = Runner.run

    def noted(runner: Runner, command: Sequence[str | Path], **options: object) -> Finished:
        commands.append(f"{Path(command[0]).name} {command[-1]}")
        return run(runner, command, **options)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(Runner, "run", noted)
    return commands


@pytest.fixture
def clang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clang:
    monkeypatch.setenv("HIRC_CACHE_DIR", str(tmp_path / "cache"))
    return find_clang()


def _link(clang: Clang, folder: Path, name: str = "a.o") -> list[str] | None:
    files = [write(folder, name, ""), folder / "out"]
    return direct_command([*clang.command, "-shared", files[0], "-o", files[1]], files, clang)


@pytest.mark.parametrize(
    ("linker", "words"),
    [
        # Machine code of ptxas, which the wrapper links.
        ("clang-linker-wrapper", [ARCH, "-g"]),
        ("ld.lld", ["--offload-arch=cpu", "--emit=shared"]),
    ],
)
def test_what_is_linked_is_what_clang_links(
    hirc: Hirc,
    tmp_path: Path,
    ran: list[str],
    monkeypatch: pytest.MonkeyPatch,
    linker: str,
    words: list[str],
) -> None:
    source, output = write(tmp_path, "prog.mlir", PROGRAM), tmp_path / "prog"

    def linked() -> tuple[bytes, list[str]]:
        ran.clear()
        hirc.succeeds(source, *words, "-o", output)
        programs = [each.split()[0] for each in ran]
        return output.read_bytes(), [each for each in programs if each != "ptxas"]

    linked()
    clang = find_clang().path.name
    made, runs = linked()
    assert runs == [linker]
    # As where the command no longer does what it did.
    monkeypatch.setattr("hirc.compiler.link.direct_command", _fails)
    assert linked() == (made, ["false", clang])


def _fails(*_: object) -> list[str]:
    return ["/bin/false"]


def test_clang_is_asked_once(
    clang: Clang, tmp_path: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _link(clang, tmp_path, "first.o"), _link(clang, tmp_path, "second.o")
    assert first is not None
    assert second == [each.replace("first.o", "second.o") for each in first]
    assert len(ran) == 1
    (tmp_path / "own").mkdir()
    monkeypatch.setenv("LIBRARY_PATH", str(tmp_path / "own"))
    third = _link(clang, tmp_path)
    assert third is not None
    assert f"-L{tmp_path / 'own'}" in third
    assert len(ran) == 2


def test_a_folder_that_changes_is_looked_at_again(
    clang: Clang, tmp_path: Path, ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hirc.compiler.direct_link._GCC", (str(tmp_path / "gcc"),))
    for version in (None, "12", "13"):
        if version is not None:
            (tmp_path / "gcc" / "target" / version).mkdir(parents=True)
        assert _link(clang, tmp_path) == _link(clang, tmp_path)
    assert len(ran) == 3


def test_another_cuda_is_looked_at_again(clang: Clang, tmp_path: Path, ran: list[str]) -> None:
    """clang tells the version of PTX by the version of CUDA."""
    (tmp_path / "cuda").mkdir()
    cuda = Cuda(tmp_path / "cuda")
    files = [write(tmp_path, "a.o", ""), tmp_path / "out"]
    for name in (None, "version.json", "version.txt"):
        if name is not None:
            write(tmp_path / "cuda", name, "{}")
        for _ in range(2):
            command = [*clang.command, "-shared", files[0], "-o", files[1]]
            assert direct_command(command, files, clang, cuda=cuda) is not None
    assert len(ran) == 3


def test_what_is_left_to_clang(clang: Clang, tmp_path: Path) -> None:
    script = tmp_path / "clang"
    script.write_text(f'#!/bin/sh\nexec {clang.path} "$@"\n')
    script.chmod(0o755)
    assert _link(Clang(script, clang.version), tmp_path) is None
    # clang compiles this one before it links it.
    assert _link(clang, tmp_path, "a.ll") is None
    # This is no command of clang's.
    files = [write(tmp_path, "a.o", ""), tmp_path / "out"]
    assert direct_command([*clang.command, "--nothing-such", *files], files, clang) is None
    # No place for a cache: clang is asked, and what it says holds.
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("")
    assert _link(clang, tmp_path) is not None

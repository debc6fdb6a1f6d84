"""Finding clang and CUDA: where they are looked for, and in what order."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from hirc.compiler.errors import ToolchainError
from hirc.compiler.process import Running, start
from hirc.compiler.toolchain import (
    Cuda,
    cache_directory,
    clang_candidates,
    cuda_candidates,
    find_clang,
    find_cuda,
)
from support.driver import script


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HIRC_CLANG", "HIRC_CUDA_PATH", "CUDA_PATH", "CUDA_HOME"):
        monkeypatch.delenv(name, raising=False)


def _clang(folder: Path, name: str, version: str, *, whole: bool = True) -> Path:
    path = script(folder / name, f"echo 'Debian clang version {version} (1~deb)'")
    if whole:
        for tool in ("clang-linker-wrapper", "clang-nvlink-wrapper"):
            script(folder / tool, "exit 0")
    return path


def _cuda(root: Path, *, without: str = "") -> Path:
    for path in Cuda(root).parts().values():
        if path.name != without:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    return root


def test_the_first_new_enough_clang_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = _clang(tmp_path, "clang", "14.0.6")
    new = _clang(tmp_path, "clang-23", "23.1.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(clang_candidates())[:2] == [new, old]
    found = find_clang()
    assert (found.path, found.version, found.major) == (new, "23.1.0", 23)


def test_a_clang_named_is_the_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = _clang(tmp_path / "named", "clang", "22.1.8")
    other = _clang(tmp_path / "other", "clang-22", "22.1.7")
    monkeypatch.setenv("PATH", str(tmp_path / "other"))
    monkeypatch.setenv("HIRC_CLANG", str(named))
    assert find_clang().path == named
    assert find_clang(other).path == other


def test_wrappers_are_looked_for_beside_the_real_clang(tmp_path: Path) -> None:
    real = _clang(tmp_path / "lib", "clang", "22.1.8")
    (tmp_path / "clang-22").symlink_to(real)
    found = find_clang(tmp_path / "clang-22")
    assert found.directory == tmp_path / "lib"
    with pytest.raises(ToolchainError, match="lacks clang-linker-wrapper and clang-nvlink-wrapper"):
        find_clang(_clang(tmp_path / "bare", "clang", "22.1.8", whole=False))


def test_where_cuda_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pip packages first, newest first, then what the environment and PATH tell of."""
    site = tmp_path / "site-packages"
    (site / "nvidia" / "cu13").mkdir(parents=True)
    (site / "nvidia" / "cu14").mkdir()
    (site / "nvidia" / "cu12").mkdir()
    monkeypatch.setattr("sys.path", [str(site)])
    monkeypatch.setenv("CUDA_PATH", "/from/cuda-path")
    monkeypatch.setenv("CUDA_HOME", "/from/cuda-home")
    script(tmp_path / "toolkit" / "bin" / "ptxas", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "toolkit" / "bin"))
    assert list(cuda_candidates()) == [
        site / "nvidia" / "cu14",
        site / "nvidia" / "cu13",
        Path("/from/cuda-path"),
        Path("/from/cuda-home"),
        tmp_path / "toolkit",
        Path("/usr/local/cuda"),
    ]


@pytest.mark.parametrize("missing", sorted(path.name for path in Cuda(Path()).parts().values()))
def test_a_partial_cuda_is_passed_over_for_a_whole_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    partial = _cuda(tmp_path / "partial", without=missing)
    whole = _cuda(tmp_path / "whole")

    def candidates() -> Iterator[Path]:
        yield tmp_path / "nowhere"
        yield partial
        yield whole

    monkeypatch.setattr("hirc.compiler.toolchain.cuda_candidates", candidates)
    assert find_cuda().root == whole
    with pytest.raises(ToolchainError, match=f"CUDA at {partial} lacks "):
        find_cuda(partial)


@pytest.mark.parametrize("folder", ["lib", "lib64", "targets/x86_64-linux/lib"])
def test_the_static_runtime_of_packages_and_toolkits(tmp_path: Path, folder: str) -> None:
    library = tmp_path / folder / "libcudart_static.a"
    library.parent.mkdir(parents=True)
    library.touch()
    assert Cuda(tmp_path).static_runtime == library


def test_cache_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIRC_CACHE_DIR", "/own")
    assert cache_directory() == Path("/own")
    monkeypatch.delenv("HIRC_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_directory() == Path("/xdg/hirc")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_directory() == Path.home() / ".cache" / "hirc"


def test_a_version_is_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But of scripts, which may run another clang each time."""
    monkeypatch.setenv("HIRC_CACHE_DIR", str(tmp_path / "cache"))
    asked: list[str] = []

    def counting(words: Sequence[str]) -> Running:
        asked.append(words[0])
        return start(words)

    monkeypatch.setattr("hirc.compiler.toolchain.start", counting)
    for _ in range(2):
        assert find_clang().version == find_clang().version
    assert len(asked) == 1
    named = _clang(tmp_path / "named", "clang", "22.1.8")
    for version in ("22.1.8", "22.1.9"):
        _clang(tmp_path / "named", "clang", version)
        assert find_clang(named).version == version
    assert len(asked) == 3


def test_a_version_is_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HIRC_CACHE_DIR", str(tmp_path / "cache"))
    for path in list(find_clang().directory.iterdir()):
        if path.name.startswith("clang"):
            (tmp_path / path.name).symlink_to(path.resolve())
    (tmp_path / "clang").unlink()
    known = find_clang().version
    shutil.copy(find_clang().path.resolve(), tmp_path / "clang")
    monkeypatch.setattr("hirc.compiler.toolchain.start", _refused)
    with pytest.raises(ToolchainError, match="prints no clang version"):
        find_clang(tmp_path / "clang")
    assert find_clang().version == known


def _refused(words: Sequence[str]) -> Running:
    raise ToolchainError(f"{words[0]} was asked")

"""The demonstration ends well, with or without a GPU, and tells what it made."""

from __future__ import annotations

from pathlib import Path

import pytest

from hirc.compiler.errors import InputError
from hirc.compiler.executable import LinkedFile, read_linked_file
from hirc.compiler.process import Finished
from hirc.tools import demo


def test_without_a_gpu_it_runs_on_the_cpu_device(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "find_driver", lambda: None)
    assert demo.main() == 0
    out = capsys.readouterr().out
    assert "sm_90 machine code" in out
    assert "registered    1 at start" in out
    assert "build/demo/saxpy-cpu --offload-arch=cpu" in out
    assert "wrong elements: 0" in out
    assert len(out.splitlines()) < 28


def test_with_a_gpu_it_runs_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Runner:
        def run(self, command: list[Path], timeout: int) -> Finished:
            assert timeout > 0
            return Finished(0, f"{command[0].name}\nwrong elements: 0\n", "")

    monkeypatch.setattr(demo, "_has_gpu", lambda: True)
    monkeypatch.setattr(demo, "Runner", Runner)
    assert demo.main() == 0
    out = capsys.readouterr().out
    assert "   saxpy\n   wrong elements: 0" in out
    assert "--offload-arch=cpu" not in out


@pytest.mark.parametrize(
    "done",
    [
        Finished(1, "wrong elements: 0", ""),
        Finished(0, "wrong elements: 2", ""),
        Finished(139, "", ""),
    ],
)
def test_a_program_that_ends_otherwise_is_no_success(done: Finished) -> None:
    assert not demo._is_right(done)  # pyright: ignore[reportPrivateUsage]


def test_a_program_that_registers_nothing_is_no_success() -> None:
    linked = LinkedFile(100, {}, ("libc.so.6",), "2.34", (), ())
    assert not demo._registers(linked)  # pyright: ignore[reportPrivateUsage]


def test_only_elf_files_are_read() -> None:
    with pytest.raises(InputError, match="is not a 64-bit ELF file"):
        read_linked_file(demo._SOURCE)  # pyright: ignore[reportPrivateUsage]

"""The demonstration ends well, here without a GPU, and tells what it made."""

from __future__ import annotations

import pytest

from hirc.compiler.errors import InputError
from hirc.compiler.executable import LinkedFile, read_linked_file
from hirc.compiler.process import Finished
from hirc.tools import demo


def test_it_compiles_and_describes(capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main() == 0
    out = capsys.readouterr().out
    assert "sm_90 machine code" in out
    assert "registered    1 at start" in out
    assert len(out.splitlines()) < 26


@pytest.mark.parametrize(
    "done", [Finished(0, "", ""), Finished(139, "", ""), Finished(1, "", "Killed")]
)
def test_a_program_that_ends_otherwise_is_no_success(
    done: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "find_driver", lambda: None)
    assert not demo._judge(done)  # pyright: ignore[reportPrivateUsage]


def test_a_program_that_registers_nothing_is_no_success() -> None:
    linked = LinkedFile(100, {}, ("libc.so.6",), "2.34", (), ())
    assert not demo._registers(linked)  # pyright: ignore[reportPrivateUsage]


def test_only_elf_files_are_read() -> None:
    with pytest.raises(InputError, match="is not a 64-bit ELF file"):
        read_linked_file(demo._SOURCE)  # pyright: ignore[reportPrivateUsage]

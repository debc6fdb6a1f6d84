"""The demonstration is README's first minute, ends well without a GPU, and sees what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from hirc.compiler.errors import InputError
from hirc.compiler.executable import LinkedFile, read_linked_file
from hirc.compiler.process import Finished
from hirc.tools import demo

_README = (Path(__file__).parents[2] / "README.md").read_text()
_SOURCE = demo._SOURCE  # pyright: ignore[reportPrivateUsage]


def test_it_is_what_readme_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert _SOURCE.read_text() in _README
    assert demo.main() == 0
    out = capsys.readouterr().out
    commands = [line.strip() for line in out.splitlines() if line.strip().startswith("$ hirc ")]
    # Here from the root, and no GPU is visible; there in the file's folder.
    own = [line for line in commands if "--offload-arch" not in line]
    assert len(commands) == 3
    for command in own:
        words = (
            command.removeprefix("$ ").replace("examples/pytorch/", "").replace("build/demo/", "")
        )
        assert f"\n{words}\n" in _README
    assert "sm_90 machine code" in out
    assert "the largest difference from torch's result is" in out
    assert len(out.splitlines()) < 32
    page = (_SOURCE.parents[2] / "build" / "demo" / "net.html").read_text()
    assert "<html" in page


@pytest.mark.parametrize(
    ("status", "gave", "is_right"),
    [
        (0, [[1.0, 2.0]], True),
        (0, [[1.0, 2.1]], False),
        (0, [[1.0, float("nan")]], False),
        (0, [1.0, 2.0], False),
        (0, None, False),
        (139, [[1.0, 2.0]], False),
    ],
)
def test_only_what_torch_gives_is_right(
    status: int, gave: list[float] | None, is_right: bool, tmp_path: Path
) -> None:
    path = tmp_path / "y.npy"
    if gave is not None:
        np.save(path, np.array(gave, np.float32))
    done = Finished(status, "", "")
    images = torch.tensor([[1.0, 2.0]])
    module = torch.nn.Identity()
    found = demo._agrees(done, path, module, images)  # pyright: ignore[reportPrivateUsage]
    assert found is is_right


def test_a_program_that_registers_nothing_or_needs_more_is_no_success() -> None:
    describe = demo._describe  # pyright: ignore[reportPrivateUsage]
    nothing = LinkedFile(100, {}, ("libc.so.6",), "2.34", (), ())
    assert describe(nothing, kernels=False)
    assert not describe(nothing, kernels=True)
    assert not describe(LinkedFile(100, {}, ("libtorch.so",), "2.34", (), ()), kernels=False)


def test_only_elf_files_are_read() -> None:
    with pytest.raises(InputError, match="is not a 64-bit ELF file"):
        read_linked_file(_SOURCE)

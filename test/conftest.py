"""pytest's configuration: the environment that every test and every program it runs sees."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis.database import DirectoryBasedExampleDatabase

from support.environment import ROOT, without_toolkit

if TYPE_CHECKING:
    from support.fake_library import Fake

# How many objects are made between two looks for cycles, as in a compilation.
_SELDOM = 100_000


def pytest_configure() -> None:
    """Hides CUDA toolkits, before any test module is imported."""
    gc.disable()
    environment = without_toolkit(os.environ)
    # Else torch makes a folder beside everybody's.
    environment.setdefault("TORCHINDUCTOR_CACHE_DIR", str(ROOT / "build" / "torchinductor"))
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = False
    # A process that a test waits for ends before the test does, so that the failure names it.
    for function in (subprocess.run, subprocess.call, subprocess.check_output):
        defaults = function.__kwdefaults__
        assert defaults is not None
        defaults["timeout"] = 240


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives tests that share what a fixture makes to one process, so that it is made once: a
    fixture of their file, one for the package, which is of their folder, or one for the session.

    This comes before pytest-xdist reads the groups, and after the groups that folders give.
    """
    for item in items:
        if not isinstance(item, pytest.Function) or item.get_closest_marker("xdist_group"):
            continue
        found = item._fixtureinfo.name2fixturedefs  # pyright: ignore[reportPrivateUsage]
        fixtures = [definitions[-1] for definitions in found.values()]
        folders = [each.baseid for each in fixtures if each.scope == "package"]
        if "loaded_commands" in found:
            item.add_marker(pytest.mark.xdist_group("loaded_commands"))
        elif folders:
            item.add_marker(pytest.mark.xdist_group("/".join(Path(folders[0]).parts[-2:])))
        elif any(each.baseid.endswith(".py") and each.scope != "function" for each in fixtures):
            item.add_marker(pytest.mark.xdist_group(f"{item.path.parent.name}/{item.path.stem}"))


def pytest_collection_finish() -> None:
    """Spares what modules have made when garbage is collected, which else takes 0.3 s each time.

    Until here nothing was collected: most of what an import makes stays.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_SELDOM)
    gc.enable()


# A machine that is busy is no failure, so a property has no deadline.
settings.register_profile(
    "hirc",
    deadline=None,
    database=DirectoryBasedExampleDatabase(ROOT / "build" / "hypothesis"),
)
settings.load_profile("hirc")


@pytest.fixture(scope="module", autouse=True)
def memory_given_back() -> Generator[None, None, None]:
    """Gives back what compilers freed: a compilation forks twice, which copies what is left.

    With 1.5 GB, as the schedules' tests leave, a fork takes 80 ms.
    """
    yield
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


@pytest.fixture(scope="session")
def loaded_commands() -> Path:
    """A folder of commands that start without imports, torch's included."""
    from support.command_server import loaded_commands

    return loaded_commands()


@pytest.fixture
def loaded_python(loaded_commands: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python that tools start has loaded what it imports."""
    monkeypatch.setattr(sys, "executable", str(loaded_commands / "python"))


@pytest.fixture(scope="module")
def fake() -> Generator[Fake, None, None]:
    """The cuBLASLt that multiplies on the host, which programs find while a module's tests run."""
    # Not before the environment is what programs are to see.
    from support.fake_library import fake_cublaslt

    yield from _named("HIRC_CUBLASLT", fake_cublaslt())


@pytest.fixture(scope="module")
def convolver() -> Generator[Fake, None, None]:
    """The cuDNN that convolves on the host, which programs find while a module's tests run."""
    from support.fake_library import fake_cudnn

    yield from _named("HIRC_CUDNN", fake_cudnn())


def _named(variable: str, found: Fake) -> Generator[Fake, None, None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(variable, str(found.path))
        yield found

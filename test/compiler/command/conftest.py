"""The programs that the tests of commands run, each compiled once."""

from __future__ import annotations

import pytest

from support.program_command import ADD, COUNT, ORIGINS, Command, build, every_element_type


@pytest.fixture(scope="package")
def add(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(build(ADD, tmp_path_factory.mktemp("add") / "add"))


@pytest.fixture(scope="package")
def count(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(build(COUNT, tmp_path_factory.mktemp("count") / "count"))


@pytest.fixture(scope="package")
def elements(tmp_path_factory: pytest.TempPathFactory) -> Command:
    folder = tmp_path_factory.mktemp("elements")
    return Command(build(every_element_type(), folder / "elements"))


@pytest.fixture(scope="package")
def origins(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(build(ORIGINS, tmp_path_factory.mktemp("origins") / "origins"))

"""The cache: what lies in it is linked into programs, so nobody else may put it there."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hirc.compiler.cache import cached, cached_files, find_cache
from hirc.tools.hirc_cache import main as hirc_cache

_NOBODY = 65534


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The folder that is asked for, and the one among the temporary files."""
    (tmp_path / "t").mkdir()
    monkeypatch.setenv("HIRC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "t"))
    return tmp_path / "cache", tmp_path / "t" / f"hirc-{os.geteuid()}"


def test_a_cache_is_its_users_alone(places: tuple[Path, Path]) -> None:
    assert cached("thing", lambda: b"made") == b"made"
    assert cached("thing", lambda: b"again") == b"made"
    assert places[0].stat().st_mode & 0o777 == 0o700
    assert not places[1].exists()


def _links(folder: Path) -> None:
    (folder.parent / "theirs").mkdir(exist_ok=True)
    folder.symlink_to("theirs")


def _opens(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)


def _gives_to_group(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o770)


def _opens_parent(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    folder.parent.chmod(0o777)


def _makes_a_file(folder: Path) -> None:
    folder.write_text("")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_links, "is no folder of its own"),
        (_opens, "others can write to"),
        (_gives_to_group, "others can write to"),
        (_opens_parent, "others can write to"),
        (_makes_a_file, "is no folder of its own"),
    ],
)
def test_a_cache_that_others_can_change_is_not_used(
    places: tuple[Path, Path], spoil: object, why: str
) -> None:
    assert callable(spoil)
    for folder in places:
        spoil(folder)
    found = find_cache()
    assert found.folder is None
    assert all(why in each for each in found.refused)
    assert len(found.refused) == 2
    # Nothing is read or written there.
    assert cached("thing", lambda: b"made") == b"made"
    assert cached("thing", lambda: b"again") == b"again"


def test_another_user_s_folder_is_not_used(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in places:
        folder.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(folder, _NOBODY, _NOBODY)
    if os.geteuid() != 0:
        real = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: real + 1)
    found = find_cache()
    assert (found.folder, ["another user's" in each for each in found.refused]) == (
        None,
        [True] * len(found.refused),
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_as_another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that somebody made in advance, in a place that all can write to."""
    with tempfile.TemporaryDirectory(dir="/tmp") as everybodys:
        Path(everybodys).chmod(0o1777)
        (Path(everybodys) / f"hirc-{_NOBODY}").mkdir(mode=0o700)
        monkeypatch.setenv("HIRC_CACHE_DIR", "/nowhere/x")
        monkeypatch.setattr("tempfile.tempdir", everybodys)
        os.seteuid(_NOBODY)
        try:
            found = find_cache()
        finally:
            os.seteuid(0)
    assert found.folder is None
    assert "another user's" in found.refused[1]


def test_a_file_that_is_not_ours_is_made_again(places: tuple[Path, Path]) -> None:
    assert cached("thing", lambda: b"made") == b"made"
    path = places[0] / "thing"
    moved = path.rename(places[0] / "other")
    path.symlink_to(moved)
    assert cached("thing", lambda: b"again") == b"again"
    path.unlink()
    path.write_bytes(moved.read_bytes()[:-1])
    assert cached("thing", lambda: b"third") == b"third"


def test_a_full_disk_fails_nothing(places: tuple[Path, Path]) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))
    try:
        assert cached("thing", lambda: b"made" * 100) == b"made" * 100
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert os.listdir(places[0]) == []
    assert cached("thing", lambda: b"made") == b"made"


def test_without_a_home_directory(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hirc.compiler.cache.cache_directory", lambda: None)
    found = find_cache()
    assert (found.folder, found.refused) == (places[1], ("there is no home directory",))


def test_processes_make_a_file_once(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from hirc.compiler.cache import cached\n"
        "def make():\n"
        "    with Path(sys.argv[1]).open('a') as made: made.write('made ')\n"
        "    time.sleep(0.5)\n"
        "    return b'data'\n"
        "print(cached('file', make).decode())\n"
    )
    cache, made = tmp_path / "cache", tmp_path / "made"
    environment = {**os.environ, "HIRC_CACHE_DIR": str(cache)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(made)],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    assert [each.communicate(timeout=60)[0] for each in started] == ["data\n"] * 8
    assert made.read_text() == "made "
    assert [each.name for each in cache.iterdir()] == ["file"]


def test_a_process_that_ends_while_it_makes_a_file_holds_up_nobody(tmp_path: Path) -> None:
    code = (
        "import os, sys, signal; from hirc.compiler.cache import cached\n"
        "print(cached('file', lambda: os.kill(os.getpid(), signal.SIGKILL)))\n"
    )
    environment = {**os.environ, "HIRC_CACHE_DIR": str(tmp_path / "cache")}
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
        assert done.returncode == -signal.SIGKILL
    code = code.replace("os.kill(os.getpid(), signal.SIGKILL)", "b'data'")
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, b"b'data'\n")


def test_a_cache_that_is_read_only(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gives way to the folder among the temporary files; where that is too, to none."""
    assert cached("thing", lambda: b"made") == b"made"
    read_only = {places[0]}

    def access(path: Path, _: int) -> bool:
        return path not in read_only

    # Root may write to anything.
    monkeypatch.setattr("os.access", access)
    found = find_cache()
    assert (found.folder, found.refused) == (places[1], (f"{places[0]} cannot be written",))
    assert cached("thing", lambda: b"again") == b"again"
    assert (places[1] / "thing").is_file()
    read_only.add(places[1])
    assert find_cache().folder is None
    assert cached("thing", lambda: b"third") == b"third"


def test_what_was_used_least_lately_makes_room(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"code-{number:032x}" for number in range(5)]
    folder = places[0]

    def make(number: int) -> None:
        assert cached(names[number], lambda: bytes(1000)) == bytes(1000)
        os.utime(folder / names[number], (number, number))

    for number in range(4):
        make(number)
    (folder / "notes").write_text("the user's own")
    # To be used is to stay.
    assert cached(names[0], lambda: b"") == bytes(1000)
    monkeypatch.setenv("HIRC_CACHE_BYTES", "3500")
    make(4)
    left = {file.name for file in cached_files(folder)}
    assert left == {names[0], names[3], names[4]}
    assert hirc_cache(["stat"]) == hirc_cache(["list"]) == 0
    printed = capsys.readouterr().out
    assert "3 files, 3.0 KiB, at most 3.4 KiB" in printed
    assert names[3] in printed
    assert names[1] not in printed
    assert hirc_cache(["clear"]) == 0
    assert "removed 3 files, 3.0 KiB" in capsys.readouterr().out
    assert [file.name for file in folder.iterdir()] == ["notes"]
    monkeypatch.setenv("HIRC_CACHE_BYTES", "much")
    assert hirc_cache(["stat"]) == 1
    assert "HIRC_CACHE_BYTES is 'much', which is no number" in capsys.readouterr().err

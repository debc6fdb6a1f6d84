"""Runs hirc, hirc-opt and FileCheck for lit in children of one process that has loaded them.

Starting Python and importing MLIR, LLVM and hirc would take nine tenths of a lit test's processor
time. Each command is still its own process, forked before it has done anything: it has the caller's
arguments, folder, environment and streams, and the caller gets its status or signal.

`served` puts commands of these names into a folder. They are `command_client.c`, which passes its
arguments on. The server ends with the process that started it.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import pkgutil
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

_NAMES = ("hirc", "hirc-opt", "FileCheck")
_STATUS = struct.Struct("=i")
_SIZE = struct.Struct("=I")
_STREAMS = (
    ("stdin", "r", "surrogateescape"),
    ("stdout", "w", "surrogateescape"),
    ("stderr", "w", "backslashreplace"),
)


def served(clang: str) -> Path:
    """Starts the server. Returns a folder with its commands, for PATH; both end with this process.

    The first command waits until the server has loaded the modules.
    """
    # A socket's name is limited to about a hundred characters; a checkout's path may be longer.
    folder = Path(tempfile.mkdtemp(prefix="hirc-lit-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with listening_for(_NAMES, folder, clang) as listening:
        server = subprocess.Popen(
            [sys.executable, __file__, str(listening.fileno())],
            stdin=subprocess.PIPE,
            pass_fds=[listening.fileno()],
            # Signals from a terminal go to the clients, which pass them to their commands.
            start_new_session=True,
        )
    atexit.register(_end, server)
    return folder


def listening_for(names: Iterable[str], folder: Path, clang: str | Path) -> socket.socket:
    """Puts commands of these names into a folder. Returns the socket that they connect to."""
    client = folder / "client"
    source = Path(__file__).with_name("command_client.c")
    subprocess.run([clang, "-O1", "-Wall", "-Werror", source, "-o", client], check=True)
    for name in names:
        (folder / name).symlink_to(client)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "socket"))
    listening.listen(64)
    return listening


def _end(server: subprocess.Popen[bytes]) -> None:
    assert server.stdin is not None
    server.stdin.close()
    server.wait()


class Server:
    """Runs commands, and keeps them by process and by the connection of the waiting client.

    It ends when the file `end` ends.
    """

    def __init__(
        self, listening: socket.socket, end: int, commands: dict[str, Callable[[], object]]
    ) -> None:
        self._commands = commands
        self._running: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        woken, wakes = socket.socketpair()
        wakes.setblocking(False)
        woken.setblocking(False)
        signal.set_wakeup_fd(wakes.fileno())
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self._open = [listening, woken, wakes]
        self._selector.register(woken, selectors.EVENT_READ, lambda: self._reap(woken))
        self._selector.register(listening, selectors.EVENT_READ, lambda: self._accept(listening))
        self._selector.register(end, selectors.EVENT_READ, self._stop)

    def run(self) -> NoReturn:
        while True:
            for key, _ in self._selector.select():
                key.data()

    def _stop(self) -> NoReturn:
        for child in self._running:
            _kill(child)
        os._exit(0)

    def _accept(self, listening: socket.socket) -> None:
        caller, _ = listening.accept()
        head, streams, _, _ = socket.recv_fds(caller, _SIZE.size, 3, socket.MSG_WAITALL)
        if len(head) < _SIZE.size:
            caller.close()
            return
        (size,) = _SIZE.unpack(head)
        request = b""
        while len(request) < size and (more := caller.recv(size - len(request))):
            request += more
        child = os.fork()
        if child == 0:
            self._run(caller, streams, request)
        with suppress(PermissionError):
            os.setpgid(child, child)
        for each in streams:
            os.close(each)
        self._running[child] = caller
        # A client sends nothing more, so it has ended, most likely by a signal.
        self._selector.register(caller, selectors.EVENT_READ, lambda: self._abandon(child))

    def _abandon(self, child: int) -> None:
        self._selector.unregister(self._running[child])
        _kill(child)

    def _reap(self, woken: socket.socket) -> None:
        with suppress(BlockingIOError):
            woken.recv(4096)
        for child in list(self._running):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                caller = self._running.pop(child)
                with suppress(KeyError):
                    self._selector.unregister(caller)
                with caller, suppress(OSError):
                    caller.sendall(_STATUS.pack(status))

    def _run(self, caller: socket.socket, streams: list[int], request: bytes) -> NoReturn:
        """Runs the command that a client asks for, in this forked process."""
        status = 1
        try:
            os.setpgid(0, 0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            for each in (caller, *self._open, *self._running.values()):
                each.close()
            for number, each in enumerate(streams):
                os.dup2(each, number)
                os.close(each)
            status = self._called(request)
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(status)

    def _called(self, request: bytes) -> int:
        folder, count, *words = request[:-1].split(b"\0")
        arguments, variables = words[: int(count)], words[int(count) :]
        os.chdir(folder)
        os.environ.clear()
        for each in variables:
            name, _, value = each.partition(b"=")
            os.environb[name] = value
        name, *rest = map(os.fsdecode, arguments)
        sys.argv = [Path(name).name, *rest]
        # A command may replace these streams, which must not close the descriptors.
        for number, (stream, mode, errors) in enumerate(_STREAMS):
            opened = open(number, mode, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
            setattr(sys, stream, opened)
        try:
            code = self._commands[sys.argv[0]]()
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
        sys.stderr.flush()
        return code if isinstance(code, int) else int(code is not None)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _main(descriptor: int) -> NoReturn:
    import filecheck.main

    import hirc.pipelines
    from hirc.compiler import driver
    from hirc.tools import hirc as hirc_command
    from hirc.tools import hirc_opt, hirc_opt_chunks

    # Modules that a command would import later.
    assert driver
    assert hirc_opt_chunks
    packages = hirc.pipelines.__path__
    for module in pkgutil.walk_packages(packages, f"{hirc.pipelines.__name__}."):
        importlib.import_module(module.name)
    commands = (hirc_command.run, hirc_opt.main, filecheck.main.main)
    # The collector of a child then does not touch, and so copy, the objects that exist.
    gc.collect()
    gc.freeze()
    Server(socket.socket(fileno=descriptor), 0, dict(zip(_NAMES, commands, strict=True))).run()


if __name__ == "__main__":
    _main(int(sys.argv[1]))

"""Runs hirc's commands, FileCheck and scripts in children of one process that has loaded them.

Starting Python and importing MLIR, LLVM and hirc would take nine tenths of a lit test's processor
time; importing torch takes ten times that. Each command is still its own process, forked before it
has done anything: it has the caller's arguments, folder, environment and streams, and the caller
gets its status or signal.

`served` puts commands of these names into a folder. They are `command_client.c`, which passes its
arguments on. The server ends with the process that started it. Tests have commands of a server that
has loaded torch too (`loaded_commands`); those that ask for the fixture of this name share one.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import os
import pkgutil
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

LIT_COMMANDS = ("hirc", "hirc-opt", "FileCheck")
_STATUS = struct.Struct("=i")
_SIZE = struct.Struct("=I")
_STREAMS = (
    ("stdin", "r", "surrogateescape"),
    ("stdout", "w", "surrogateescape"),
    ("stderr", "w", "backslashreplace"),
)


def served(clang: str | Path, names: Sequence[str] = LIT_COMMANDS) -> Path:
    """Starts the server. Returns a folder with its commands, for PATH; both end with this process.

    `python` among the names runs scripts, and has torch loaded. The first command waits until the
    server has loaded the modules.
    """
    # Not for the server, which is this file as a script.
    from support.scratch import scratch_folder

    # A socket's name is limited to about a hundred characters; a checkout's path may be longer.
    folder = scratch_folder("lit")
    with listening_for(names, folder, clang) as listening:
        server = subprocess.Popen(
            [sys.executable, __file__, str(listening.fileno()), *names],
            stdin=subprocess.PIPE,
            pass_fds=[listening.fileno()],
            # Signals from a terminal go to the clients, which pass them to their commands.
            start_new_session=True,
        )
    atexit.register(_end, server)
    return folder


@cache
def loaded_commands() -> Path:
    """Returns a folder of hirc's commands and `python`, of a server that has loaded torch."""
    from hirc.compiler.toolchain import find_clang

    return served(find_clang().path, ("hirc", "hirc-opt", "hirc-run", "python"))


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


def _forget_exits() -> None:
    """Leaves to the parent what is done when it ends, such as removing its folders."""
    atexit._clear()  # pyright: ignore[reportPrivateUsage]
    finalizers: Any = weakref.finalize
    finalizers._registry.clear()
    finalizers._registered_with_atexit = False


# A command with this in its environment calls C's exit functions as it ends.
EXITS = "HIRC_TEST_EXITS"


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
            _forget_exits()
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
            # C's exit functions take half a second. Those of a team say goodbye to the others.
            if EXITS in os.environ:
                ctypes.CDLL(None).exit(status)
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


class _Loaded(MetaPathFinder, Loader):
    """Finds modules that were loaded before, which nobody sees until they are imported."""

    def __init__(self, *names: str) -> None:
        self._modules = {name: sys.modules.pop(name) for name in names if name in sys.modules}
        self._specs = {name: module.__spec__ for name, module in self._modules.items()}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in self._modules else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._modules.pop(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._specs[module.__name__]
        module.__loader__ = module.__spec__.loader if module.__spec__ is not None else None


def run_python() -> int:
    """Runs a script, code after `-c`, or a module after `-m`. Returns the exit status."""
    # Programs give torch's tensors where it was imported, so it was only if the script does it.
    sys.meta_path.insert(0, _Loaded("torch"))
    option, *rest = sys.argv[1:]
    main = sys.modules["__main__"] = ModuleType("__main__")
    if option == "-c":
        text, *rest = rest
        code = compile(text, "<string>", "exec")
        sys.argv, sys.path[0] = [option, *rest], ""
    elif option == "-m":
        name, *rest = rest
        # It may be loaded already, which is said of a module that is run once more.
        sys.modules.pop(name, None)
        text = f"__import__('runpy').run_module({name!r}, run_name='__main__', alter_sys=True)"
        code = compile(text, "<string>", "exec")
        sys.argv, sys.path[0] = [name, *rest], ""
    else:
        main.__file__ = str(Path(option).absolute())
        code = compile(Path(option).read_bytes(), main.__file__, "exec")
        sys.argv, sys.path[0] = [option, *rest], str(Path(option).resolve().parent)
    try:
        exec(code, vars(main))
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - it is the script's, and is shown
        # The frame of this function is none of the script's.
        shown = error.__traceback__.tb_next if error.__traceback__ is not None else None
        traceback.print_exception(error.with_traceback(shown))
        return 1
    finally:
        threading._shutdown()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    return 0


def _main(descriptor: int, names: Sequence[str]) -> NoReturn:
    import filecheck.main

    import hirc.pipelines
    from hirc.compiler import driver
    from hirc.tools import (
        command,
        hirc_opt,
        hirc_opt_arguments,
        hirc_opt_chunks,
        hirc_run,
        hirc_run_arguments,
        team,
    )
    from hirc.tools import hirc as hirc_command

    # Modules that a command would import later.
    assert command
    assert driver
    assert hirc_opt_arguments
    assert hirc_opt_chunks
    assert hirc_run_arguments
    assert team
    packages = hirc.pipelines.__path__
    for module in pkgutil.walk_packages(packages, f"{hirc.pipelines.__name__}."):
        importlib.import_module(module.name)
    commands: dict[str, Callable[[], object]] = {
        "hirc": hirc_command.run,
        "hirc-opt": hirc_opt.main,
        "hirc-run": hirc_run.main,
        "FileCheck": filecheck.main.main,
    }
    if "python" in names:
        importlib.import_module("hirc.frontends.torch.model_source")
        importlib.import_module("hirc.frontends.torch.read_model")
        commands["python"] = run_python
    # The collector of a child then does not touch, and so copy, the objects that exist.
    gc.collect()
    gc.freeze()
    Server(socket.socket(fileno=descriptor), 0, {name: commands[name] for name in names}).run()


if __name__ == "__main__":
    _main(int(sys.argv[1]), sys.argv[2:])

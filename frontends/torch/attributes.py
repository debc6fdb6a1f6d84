"""What a model keeps in attributes: buffers that it assigns, plain tensors, and what is refused.

torch.export takes a plain tensor for a constant, and misses what is assigned to buffers of a
module's parts.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from types import ModuleType
from typing import Any

import torch
from torch import SymInt, Tensor, nn
from torch._ops import OpOverload
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.experimental.proxy_tensor import get_proxy_mode, get_proxy_slot
from torch.utils import _pytree as pytree

from ...compiler.errors import HircError, UnsupportedError
from .fake_values import has_no_elements

_OF_MODULES = frozenset(vars(nn.Module()))
_NUMBERS = (bool, int, float, str)
_HINT = (
    "call the model once before it is compiled, where it keeps what weights alone give; else "
    "register it as a buffer that has its first value, type and sizes before the first call"
)


@contextmanager
def as_buffers(model: nn.Module) -> Generator[frozenset[str]]:
    """Makes the plain tensors among a module's attributes, and its parts', buffers in the block.

    Gives their names.
    """
    moved: list[tuple[nn.Module, str, Tensor]] = []
    names: set[str] = set()
    for prefix, module in model.named_modules():
        for name, value in _attributes(module).items():
            if isinstance(value, Tensor):
                moved.append((module, name, value))
                names.add(_path(prefix, name))
    for module, name, value in moved:
        del vars(module)[name]
        module.register_buffer(name, value, persistent=False)
    try:
        yield frozenset(names)
    finally:
        for module, name, value in moved:
            delattr(module, name)
            vars(module)[name] = value


def _buffers_of(model: nn.Module) -> Iterator[tuple[nn.Module, str, str, Tensor]]:
    """Yields the buffers of a module and its submodules: each as its module, its name there, its
    path and its value.
    """
    for prefix, module in model.named_modules():
        for name, value in module.named_buffers(recurse=False):
            yield module, name, _path(prefix, name), value


def _attributes(holder: Any) -> dict[str, Any]:
    hidden = _OF_MODULES if isinstance(holder, nn.Module) else ()
    return {name: value for name, value in vars(holder).items() if name not in hidden}


def _path(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


@dataclass(frozen=True)
class _Assigned:
    """An attribute of a module, or of an object that one holds, that a call leaves with another
    value.
    """

    holder: Any
    attribute: str
    name: str
    value: Any


@dataclass(frozen=True)
class _Sizes:
    """A tensor's, and its type."""

    sizes: tuple[int, ...]
    dtype: torch.dtype

    @staticmethod
    def of(x: Tensor) -> _Sizes:
        sizes = tuple(size.node.hint if isinstance(size, SymInt) else size for size in x.shape)
        return _Sizes(sizes, x.dtype)

    def zeros(self) -> Tensor:
        return torch.zeros(self.sizes, dtype=self.dtype)


class Assignments:
    """What a model's call assigns to attributes. Buffers get it as their values."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._held = _Held(model)
        self._before = [
            (path, holder, {name: _leaves(value) for name, value in _attributes(holder).items()})
            for path, holder in self._held.holders
        ]
        self._buffers: list[tuple[nn.Module, str, str, Tensor]] = []
        self._kept = {path: buffer for _, _, path, buffer in _buffers_of(model)}
        # The tensors that torch.export puts in place of buffers while it calls the model, by the
        # buffers' ids. It replaces them in modules only: a cache or a list that also holds a buffer
        # still gives the buffer itself.
        self.stand_ins: dict[int, Tensor] = {}
        self._found: list[_Assigned] = []

    @contextmanager
    def watched(self) -> Generator[None]:
        """Watches the calls of the model in the block."""
        forward = self._model.forward
        before = [(holder, dict(vars(holder))) for _, holder in self._held.holders]
        containers = [(value, _entries(value)) for value in self._held.containers]

        # Hooks are called when torch has left the module.
        @wraps(forward)
        def watched(*args: Any, **kwargs: Any) -> Any:
            self._begin()
            result = forward(*args, **kwargs)
            self._end()
            return result

        vars(self._model)["forward"] = watched
        try:
            yield
        finally:
            self.stand_ins = {}
            _restore(before)
            # Tensors without elements would be left in them.
            for value, was in containers:
                # A container that refuses changes, such as a frozen dict, has none.
                if _are_others(_entries(value), was):
                    value.clear()
                    pairs = zip(was[::2], was[1::2], strict=True)
                    value.update(pairs) if isinstance(value, dict) else value.extend(was)

    def _begin(self) -> None:
        self._buffers = [*_buffers_of(self._model)]
        now = {path: value for _, _, path, value in self._buffers}
        self.stand_ins = {
            id(buffer): now[path] for path, buffer in self._kept.items() if now[path] is not buffer
        }

    def _end(self) -> None:
        traced = _Traced(self._model, self._buffers)
        assigned: list[tuple[Tensor, Tensor]] = []
        for module, name, path, before in self._buffers:
            after = vars(module)["_buffers"].get(name)
            if after is before:
                continue
            is_other = _kind(after) != _kind(before)
            is_part = module is not self._model
            if is_other and is_part and traced.are_constant([after], of_weights=False):
                # Every call would make the same of constants, such as a longer table. What is
                # assigned to buffers of the whole torch.export has already taken down.
                vars(module)["_buffers"][name] = before
                continue
            if not isinstance(after, Tensor) or is_other:
                raise UnsupportedError(
                    f"the model assigns to '{path}', {_kind(before)}, what is {_kind(after)}",
                    stage="import",
                    hint="what it keeps from call to call has one type, and sizes that are known",
                )
            # What is assigned may be another buffer.
            value = after.clone()
            if module is self._model:
                # torch.export itself writes what is assigned here.
                setattr(module, name, value)
            else:
                vars(module)["_buffers"][name] = before
                assigned.append((before, value))
        for before, after in assigned:
            before.copy_(after)
        self._found = list(self._changed(traced))

    def _changed(self, traced: _Traced) -> Iterator[_Assigned]:
        for path, holder, before in self._before:
            for attribute, value in _attributes(holder).items():
                was, leaves = before.get(attribute, [None]), pytree.tree_leaves(value)
                if _differs(was, _leaves(value)):
                    left = pytree.tree_map_only(Tensor, _Sizes.of, value)
                    is_first = bool(leaves) and all(each is None for each in was)
                    if is_first and traced.are_constant(leaves):
                        continue
                    yield _Assigned(holder, attribute, _path(path, attribute), left)

    def check(self, program: ExportedProgram, export: Callable[[], ExportedProgram]) -> None:
        """Raises UnsupportedError where a second call would not compute what the program does.

        The second is exported with the attributes as the first call left them, any tensors.
        """
        found, left = self._found, list[Any]()
        if not found:
            return
        before = [(each.holder, dict(vars(each.holder))) for each in found]
        for each in found:
            value = pytree.tree_map_only(_Sizes, _Sizes.zeros, each.value)
            vars(each.holder)[each.attribute] = value
            left += pytree.tree_leaves(value)
        try:
            with self.watched():
                second = export()
        except HircError:
            second = None
        finally:
            _restore(before)
        held = {each.data_ptr() for each in left if isinstance(each, Tensor) and each.numel()}
        is_read = second is None or any(
            isinstance(value, Tensor) and not has_no_elements(value) and value.data_ptr() in held
            for value in second.constants.values()
        )
        if is_read or second is None or second.graph_module.code != program.graph_module.code:
            named = ", ".join(f"'{each.name}'" for each in found)
            raise UnsupportedError(
                f"what the model computes depends on what an earlier call assigned to {named}",
                stage="import",
                hint=_HINT,
            )


class _Traced:
    """The operations that the call has been traced as so far, and what they read."""

    def __init__(
        self, model: nn.Module, buffers: Iterable[tuple[nn.Module, str, str, Tensor]]
    ) -> None:
        mode = get_proxy_mode()
        self._tracer = None if mode is None else mode.tracer
        held = [*model.named_parameters(remove_duplicate=False)]
        held += [(path, buffer) for _, _, path, buffer in buffers]
        nodes = [] if self._tracer is None else [*self._tracer.graph.nodes]
        written = {_first_operand(node) for node in nodes if _writes(node)}
        kept = [node for node in (self._node(value) for _, value in held) if node not in written]
        self._inputs = {node for node in kept if node is not None and node.op == "placeholder"}

    def _node(self, x: Any) -> Node | None:
        if self._tracer is None or not isinstance(x, Tensor):
            return None
        slot: Any = get_proxy_slot(x, self._tracer, None)
        return None if slot is None else slot.proxy.node

    def are_constant(self, values: Iterable[Any], *, of_weights: bool = True) -> bool:
        """Returns whether each call makes the same tensors: of constants, and of parameters and
        buffers that it does not write.
        """
        met: set[Node] = set()
        rest = [self._node(value) for value in values]
        while rest:
            node = rest.pop()
            if node in met:
                continue
            if node is None or _draws(node):
                return False
            if not (of_weights and node in self._inputs):
                if node.op not in ("call_function", "get_attr"):
                    return False
                rest += node.all_input_nodes
            met.add(node)
        return True


def _draws(node: Node) -> bool:
    tags = node.target.tags if isinstance(node.target, OpOverload) else ()
    return torch.Tag.nondeterministic_seeded in tags


def _writes(node: Node) -> bool:
    return isinstance(node.target, OpOverload) and (
        node.target._schema.is_mutable  # pyright: ignore[reportPrivateUsage]
    )


def _first_operand(node: Node) -> Node:
    """Returns what a node's first operand is made of first, and so on: a view's memory, perhaps."""
    while node.op == "call_function" and node.all_input_nodes:
        node = node.all_input_nodes[0]
    return node


class _Held:
    """What may hold what a call assigns: modules, objects that their attributes hold, and so on.

    `holders` are these, with the paths to them; `containers` are the dicts and lists on the way.
    """

    def __init__(self, model: nn.Module) -> None:
        self.holders: list[tuple[str, Any]] = list(model.named_modules())
        self.containers: list[dict[Any, Any] | list[Any]] = []
        self._met: set[int] = set()
        for prefix, module in [*self.holders]:
            for name, value in _attributes(module).items():
                self._meet(value, _path(prefix, name))

    def _meet(self, value: Any, path: str) -> None:
        if value is None or isinstance(value, (*_NUMBERS, Tensor, nn.Module)):
            return
        if id(value) in self._met:
            return
        self._met.add(id(value))
        if isinstance(value, (dict, list, tuple)):
            if not isinstance(value, tuple):
                self.containers.append(value)
            is_dict = isinstance(value, dict)
            for name, each in dict.items(value) if is_dict else enumerate(value):
                self._meet(each, _path(path, str(name)))
        elif _is_plain(value):
            self.holders.append((path, value))
            for name, each in vars(value).items():
                self._meet(each, _path(path, name))


def _is_plain(value: Any) -> bool:
    """Returns whether a value is an object with attributes; torch's own are left alone."""
    if isinstance(value, (type, ModuleType)):
        return False
    return isinstance(getattr(value, "__dict__", None), dict) and (
        type(value).__module__.partition(".")[0] != "torch"
    )


def _restore(before: Iterable[tuple[Any, dict[str, Any]]]) -> None:
    for holder, values in before:
        if _are_others(_entries(vars(holder)), _entries(values)):
            vars(holder).clear()
            vars(holder).update(values)


def _are_others(now: list[Any], was: list[Any]) -> bool:
    return len(now) != len(was) or any(map(operator.is_not, now, was))


def _entries(value: dict[Any, Any] | list[Any]) -> list[Any]:
    """Returns what a container holds: the elements, or each key with its value behind it."""
    if isinstance(value, dict):
        return [each for pair in dict.items(value) for each in pair]
    return list(value)


def _leaves(value: Any) -> list[Any]:
    """Returns the numbers and tensors that a value has, and None for all else."""
    leaves = pytree.tree_leaves(value)
    return [leaf if isinstance(leaf, (*_NUMBERS, Tensor)) else None for leaf in leaves]


def _differs(before: list[Any], after: list[Any]) -> bool:
    return len(before) != len(after) or any(
        new is not old and (isinstance(new, Tensor) or isinstance(old, Tensor) or new != old)
        for old, new in zip(before, after, strict=True)
    )


def _kind(value: Any) -> str:
    if not isinstance(value, Tensor):
        return str(value)
    kind = str(value.dtype).removeprefix("torch.")
    return f"a tensor of {'x'.join(str(size) for size in (*value.shape, kind))}"

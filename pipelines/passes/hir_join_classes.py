"""hir-join-classes: kernels for the size classes of one operation become one kernel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import ClassVar

from ...dialects.mlir import arith, gpu, ir, scf
from ...dialects.records import dataclass
from ..fusion.generic import CONFIGURATION
from ..pass_base import Pass, register
from ..schedules.kernels import GROUP
from ..symbols import symbol_name
from ..walking import host_operations_where

_KERNEL = "gpu.func"
_LAUNCH = "hir.launch"
_BLOCK, _MOST = "known_block_size", "nvvm.maxntid"
_RESIDENT = "nvvm.minctasm"
_SIGNATURE = {"function_type", "sym_name", "kernel", "gpu.kernel", "workgroup_attributions"}
# A kernel with further attributes is not joined.
_KNOWN = {*_SIGNATURE, CONFIGURATION, GROUP, _BLOCK, _MOST, _RESIDENT}


@register
@dataclass(frozen=True)
class HirJoinClasses(Pass):
    """Makes one kernel of those of a launcher that a schedule put into one group.

    These are for different sizes, strides or addresses, and need about the same registers. A launch
    says which class is meant: all threads take the same branch. Kernels for which the assembler is
    to fit different numbers of blocks are not joined.

      "hir.if"(%flat) ({
        "hir.launch"(...) ({ argument(%x), argument(%n) }) {kernel = @kernels::@negf_0}
      }, {
        "hir.launch"(...) ({ argument(%x), argument(%n), argument(%s) })
          {kernel = @kernels::@negf_1}
      })
    becomes
      "hir.if"(%flat) ({
        "hir.launch"(...) ({ argument(%x), argument(%n), argument(%c0), argument(%c0_i32) })
          {kernel = @kernels::@negf_0}
      }, {
        "hir.launch"(...) ({ argument(%x), argument(%n), argument(%s), argument(%c1_i32) })
          {kernel = @kernels::@negf_0}
      })
    """

    name: ClassVar[str] = "hir-join-classes"
    subjects: ClassVar[tuple[str, ...]] = (_LAUNCH,)

    def run(self, op: ir.Operation) -> bool:
        launches: dict[str, list[ir.Operation]] = {}
        for launch in host_operations_where(op, lambda each: each.name == _LAUNCH):
            launches.setdefault(str(launch.attributes["kernel"]), []).append(launch)
        groups: dict[object, list[list[_Kernel]]] = {}
        for module in op.regions[0].blocks[0]:
            if module.operation.name != "gpu.module":
                continue
            for each in module.operation.regions[0].blocks[0]:
                function = each.operation
                if function.name == _KERNEL and GROUP in function.attributes:
                    kernel = _Kernel(function, launches.get(_reference(module, function), []))
                    if kernel.can_be_joined:
                        _add(kernel, groups.setdefault(kernel.key, []))
                    del function.attributes[GROUP]
        several = [group for found in groups.values() for group in found if len(group) > 1]
        for group in several:
            _Joined(group).build()
        return bool(several)


def _add(kernel: _Kernel, groups: list[list[_Kernel]]) -> None:
    """Adds a kernel to the first of some groups with which it can be joined, or makes one more."""
    for group in groups:
        if all(map(kernel.can_join, group)):
            group.append(kernel)
            return
    groups.append([kernel])


class _Kernel:
    """A kernel of a group, with all its launches."""

    def __init__(self, function: ir.Operation, launches: Sequence[ir.Operation]) -> None:
        self.function = function
        self.launches = launches
        self._group = str(function.attributes[GROUP])

    @property
    def can_be_joined(self) -> bool:
        attributes = set(self.function.attributes)
        return (
            bool(self.launches)
            and all(_launcher(each).name == "hir.launcher" for each in self.launches)
            and len(list(self.function.regions[0].blocks)) == 1
            and attributes <= _KNOWN
            and not attributes.isdisjoint((_BLOCK, _MOST))
            and all(map(self._can_be_passed, range(len(self.parameters))))
        )

    @property
    def key(self) -> object:
        """What kernels have in common that are joined."""
        resident = self.function.attributes.get(_RESIDENT)
        module = self.function.parent
        assert module is not None
        return symbol_name(module.operation), self._group, str(resident)

    def can_join(self, other: _Kernel) -> bool:
        """Returns whether the launchers of one of the two are among those of the other, and those
        of both have the buffers of both.
        """
        one, two = self._launchers, other._launchers
        if one == two:
            return True
        return (one < two and not self._has_buffers) or (two < one and not other._has_buffers)

    @cached_property
    def _launchers(self) -> frozenset[str]:
        return frozenset(symbol_name(_launcher(each)) for each in self.launches)

    @property
    def _has_buffers(self) -> bool:
        return any(isinstance(kind, ir.MemRefType) for kind in self.parameters)

    @cached_property
    def parameters(self) -> list[ir.Type]:
        """The types of its parameters."""
        return [each.type for each in self.function.regions[0].blocks[0].arguments]

    def passed(self, number: int) -> list[ir.Value]:
        """What each launch passes for a parameter."""
        return [_arguments(launch)[number] for launch in self.launches]

    @property
    def threads(self) -> list[int]:
        """The most threads of a block, in each dim."""
        attributes = self.function.attributes
        return list(attributes[_BLOCK if _BLOCK in attributes else _MOST])

    def _can_be_passed(self, number: int) -> bool:
        """Returns whether launches of other kernels can pass something too."""
        kind = self.parameters[number]
        if isinstance(kind, ir.MemRefType):
            passed = zip(self.passed(number), self.launches, strict=True)
            return all(_is_argument(value, _launcher(launch)) for value, launch in passed)
        return _is_number(kind) or _is_pointer(kind)


class _Slot:
    """A parameter of the joined kernel, and what launches pass for it."""

    def __init__(self, kind: ir.Type) -> None:
        self.kind = kind
        self.passed: dict[ir.Value, None] = {}

    def takes(self, kind: ir.Type, passed: Iterable[ir.Value]) -> bool:
        """Memory that one class reads must not be what another one writes: the cache of what is
        only read would not serve it.
        """
        if self.kind != kind:
            return False
        return _is_number(kind) or all(value in self.passed for value in passed)

    def other(self, launch: ir.Operation) -> ir.Value:
        """Returns what a launch passes whose own kernel does not have the parameter."""
        if _is_number(self.kind):
            number = 0.0 if isinstance(self.kind, ir.FloatType) else 0
            return arith.ConstantOp(self.kind, number).result
        launcher = _launcher(launch)
        for value in self.passed:
            if _is_argument(value, launcher):
                return value
        # An address of no meaning.
        buffers = (each for each in _arguments(launch) if isinstance(each.type, ir.MemRefType))
        return next(buffers)


class _Joined:
    """The kernel that is made of several."""

    def __init__(self, kernels: Sequence[_Kernel]) -> None:
        self._kernels = kernels
        self._slots: list[_Slot] = []
        self._places = [self._places_of(kernel) for kernel in kernels]
        self._first = kernels[0].function

    def build(self) -> None:
        """Puts it in the place of the first, and erases the others."""
        self._fill_launches()
        with self._first.location, ir.InsertionPoint(self._first):
            self._move_bodies(self._function().regions[0].blocks[0])
        for kernel in self._kernels:
            kernel.function.erase()

    def _places_of(self, kernel: _Kernel) -> list[int]:
        """Returns which slots are a kernel's parameters; adds those that are missing."""
        free = list(range(len(self._slots)))
        places: list[int] = []
        for number, kind in enumerate(kernel.parameters):
            passed = kernel.passed(number)
            place = next((each for each in free if self._slots[each].takes(kind, passed)), None)
            if place is None:
                place = len(self._slots)
                self._slots.append(_Slot(kind))
            else:
                free.remove(place)
            self._slots[place].passed.update(dict.fromkeys(passed))
            places.append(place)
        return places

    def _fill_launches(self) -> None:
        name = self._first.attributes["sym_name"]
        for number, (kernel, places) in enumerate(zip(self._kernels, self._places, strict=True)):
            for launch in kernel.launches:
                own = dict(zip(places, _arguments(launch), strict=True))
                with launch.location, ir.InsertionPoint(launch):
                    values = [
                        own[place] if place in own else slot.other(launch)
                        for place, slot in enumerate(self._slots)
                    ]
                    kind = ir.IntegerType.get_signless(32)
                    values.append(arith.ConstantOp(kind, number).result)
                block = launch.regions[0].blocks[0]
                for each in list(block):
                    each.operation.erase()
                with launch.location, ir.InsertionPoint(block):
                    for value in values:
                        ir.Operation.create("hir.argument", [], [value])
                holder = ir.SymbolRefAttr(launch.attributes["kernel"]).value[0]
                called = ir.SymbolRefAttr.get([holder, ir.StringAttr(name).value])
                launch.attributes["kernel"] = called

    def _function(self) -> ir.Operation:
        """Emits it without a body; the last parameter is the number of the class."""
        kinds = [*(slot.kind for slot in self._slots), ir.IntegerType.get_signless(32)]
        function = gpu.GPUFuncOp(ir.FunctionType.get([], []), sym_name="joined", kernel=True)
        body = function.add_entry_block()
        for kind in kinds:
            body.add_argument(kind, self._first.location)
        attributes = function.operation.attributes
        attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, []))
        attributes["sym_name"] = self._first.attributes["sym_name"]
        sizes = [kernel.threads for kernel in self._kernels]
        are_equal = all(each == sizes[0] for each in sizes)
        is_fixed = are_equal and all(_BLOCK in each.function.attributes for each in self._kernels)
        most = [max(each) for each in zip(*sizes, strict=True)]
        attributes[_BLOCK if is_fixed else _MOST] = ir.DenseI32ArrayAttr.get(most)
        if _RESIDENT in self._first.attributes:
            attributes[_RESIDENT] = self._first.attributes[_RESIDENT]
        made = [kernel.function.attributes.get(CONFIGURATION) for kernel in self._kernels]
        listed = [each for each in made if each is not None]
        if listed:
            attributes[CONFIGURATION] = ir.ArrayAttr.get(listed)
        return function.operation

    def _move_bodies(self, entry: ir.Block) -> None:
        *taken, which = entry.arguments
        with ir.InsertionPoint(entry):
            end = gpu.ReturnOp([]).operation
        *others, (last, last_places) = zip(self._kernels, self._places, strict=True)
        for number, (kernel, places) in enumerate(others):
            with ir.InsertionPoint(end):
                own = arith.constant(which.type, number)
                is_this = arith.cmpi(arith.CmpIPredicate.eq, which, own)
                choice = scf.IfOp(is_this, has_else=True)
            with ir.InsertionPoint(choice.then_block):
                this_end = scf.YieldOp([]).operation
            assert choice.else_block is not None
            with ir.InsertionPoint(choice.else_block):
                end = scf.YieldOp([]).operation
            _move_body(kernel, [taken[place] for place in places], this_end)
        _move_body(last, [taken[place] for place in last_places], end)


def _move_body(kernel: _Kernel, taken: Sequence[ir.Value], end: ir.Operation) -> None:
    """Moves what a kernel does before another end."""
    body = kernel.function.regions[0].blocks[0]
    for argument, value in zip(body.arguments, taken, strict=True):
        argument.replace_all_uses_with(value)
    *operations, _ = list(body)
    for each in operations:
        each.operation.move_before(end)


def _reference(module: ir.OpView, function: ir.Operation) -> str:
    return f"@{symbol_name(module.operation)}::@{symbol_name(function)}"


def _arguments(launch: ir.Operation) -> list[ir.Value]:
    return [each.operation.operands[0] for each in launch.regions[0].blocks[0]]


def _launcher(launch: ir.Operation) -> ir.Operation:
    """Returns the launcher that holds a launch, or the program."""
    holder = launch.parent
    while holder is not None and holder.name not in ("hir.launcher", "hir.program"):
        holder = holder.parent
    assert holder is not None
    return holder.operation


def _is_argument(value: ir.Value, launcher: ir.Operation) -> bool:
    owner = value.owner
    return isinstance(owner, ir.Block) and owner.owner.operation == launcher


def _is_number(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IndexType | ir.IntegerType | ir.FloatType)


def _is_pointer(kind: ir.Type) -> bool:
    return str(kind) == "!llvm.ptr"

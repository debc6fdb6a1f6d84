"""Weights and state in a program's interface: from an address to inputs that nobody passes."""

from __future__ import annotations

from ....dialects import llvm
from ....dialects.mlir import arith, cf, func, ir
from ...body_names import BODY_PREFIX
from ...pass_base import fail
from ...weights import Role, WeightLayout
from .code import Code
from .info import constant, numbers
from .signature import WITH_STATE, WITH_WEIGHTS, dtype_of

# For how many devices the support library keeps state (current_device.h): an address and its
# bytes for each.
_DEVICES = 64
_BOUND_PREFIX = "hirc_bound_"
# struct hirc_weights of the support library: the header and its bytes, the bytes of all weights,
# the file beside the linked one, what is embedded, where they are, functions of the support
# library; the states, their number, and the bytes of all; the parts, of how many processes, and a
# function that tells which of them this is.
_STRUCT = (
    "!llvm.struct<(ptr, i64, i64, ptr, ptr, ptr, ptr, ptr, ptr, ptr, i64, i64, ptr, i64, ptr)>"
)
# struct hirc_state_info: name, sizes, offset, bytes, the first value's offset; rank, DLDataType.
_STATE = "!llvm.struct<(ptr, ptr, i64, i64, i64, i32, i32)>"
# struct hirc_weight_part: offset, number of cuts, and these.
_PART = "!llvm.struct<(i64, i64, ptr)>"
_RANK = ("hirc_communication_rank", "i64", ("i64",))
_FUNCTIONS = (
    ("hirc_weights_load", "ptr", ("ptr",)),
    ("hirc_weights_use_file", "i32", ("ptr",)),
    ("hirc_weights_unload", "void", ()),
)


def program_name(symbol: str) -> str:
    """Returns the program's name, of the symbol of the function that runs it."""
    return symbol.removeprefix(BODY_PREFIX).removeprefix(_BOUND_PREFIX)


def bind_weights(code: Code, body: ir.Operation, layout: WeightLayout, *, is_called: bool) -> None:
    """Replaces the inputs of a body that are weights by one, their address, as the last.

      func.func private @hirc_body_main(%x: memref<4xf32>, %w: memref<4xf32>, %stream: !llvm.ptr)
    becomes
      func.func private @hirc_body_main(%x: memref<4xf32>, %stream: !llvm.ptr,
                                        %weights: !llvm.ptr) attributes {hir.weights}
    State likewise, behind it. A body that other programs call stays as it is, with their buffers
    for weights; the program's is then another, @hirc_bound_main, that calls it.
    """
    inputs = [ir.DictAttr(each) for each in ir.ArrayAttr(body.attributes["hir.inputs"])]
    held = [place for place, each in enumerate(inputs) if "weight" in each or "state" in each]
    if not held:
        return
    bound = _caller_of(code, body) if is_called else body
    block = bound.regions[0].blocks[0]
    states = {state.name: place for place, state in enumerate(layout.states)}
    for key, mark in (("weight", WITH_WEIGHTS), ("state", WITH_STATE)):
        names = {
            place: ir.StringAttr(inputs[place][key]).value for place in held if key in inputs[place]
        }
        if not names:
            continue
        known = layout.places if key == "weight" else states
        for name in names.values():
            if name not in known:
                fail(body, f"hirc.weights of the module has no {key} of the name '{name}'")
        base = block.add_argument(code.types.ptr, bound.location)
        used = sorted({states[name] for name in names.values()}) if key == "state" else []
        bound.attributes[mark] = ir.DenseI64ArrayAttr.get(used) if used else ir.UnitAttr.get()
        with ir.InsertionPoint.at_block_begin(block):
            for place, name in names.items():
                taken = block.arguments[place]
                offset = (
                    layout.places[name] if key == "weight" else layout.state_offsets[states[name]]
                )
                # The offset may have more bits than an index that is an attribute.
                address = code.after(base, code.i64(offset))
                memref = code.packed_memref(ir.MemRefType(taken.type), address)
                taken.replace_all_uses_with(memref)
    for place in reversed(held):
        block.erase_argument(place)
    kind = bound.opview.type
    bound.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([each.type for each in block.arguments], list(kind.results))
    )
    passed = [place for place in range(len(inputs)) if place not in held]
    bound.attributes["hir.inputs"] = ir.ArrayAttr.get([inputs[place] for place in passed])
    bound.attributes["hir.outputs"] = _renumbered(body, passed)
    if is_called:
        del body.attributes["hir.inputs"]
        del body.attributes["hir.outputs"]


def _caller_of(code: Code, body: ir.Operation) -> ir.Operation:
    """Returns a function with the body's arguments and results that calls it."""
    callee = ir.StringAttr(body.attributes["sym_name"]).value
    name = _BOUND_PREFIX + callee.removeprefix(BODY_PREFIX)
    with ir.InsertionPoint(body):
        caller = func.FuncOp(name, body.opview.type, visibility="private")
    with ir.InsertionPoint(caller.add_entry_block()):
        call = func.CallOp(list(caller.type.results), callee, list(caller.entry_block.arguments))
        func.ReturnOp(list(call.results))
    return caller.operation


def _renumbered(body: ir.Operation, passed: list[int]) -> ir.ArrayAttr:
    """Returns the descriptions of the outputs, with the numbers of the inputs that callers pass."""
    outputs: list[ir.DictAttr] = []
    for each in ir.ArrayAttr(body.attributes["hir.outputs"]):
        entries = {item.name: item.attr for item in ir.DictAttr(each)}
        if "input" in entries:
            number = passed.index(ir.IntegerAttr(entries["input"]).value)
            entries["input"] = ir.IntegerAttr.get(entries["input"].type, number)
        outputs.append(ir.DictAttr.get(entries))
    return ir.ArrayAttr.get([*outputs])


class Weights:
    """The description of a module's weights and states in the linked file, one for equal ones."""

    def __init__(self, code: Code, layout: WeightLayout) -> None:
        self.symbol = f"hirc_weights_{layout.key}"
        self._state = f"{self.symbol}_state"
        self._layout = layout
        words = code.types.array(2 * _DEVICES, code.types.i64)
        zeros = ir.DenseElementsAttr.get_splat(
            ir.RankedTensorType.get([2 * _DEVICES], code.types.i64),
            ir.IntegerAttr.get(code.types.i64, 0),
        )
        _shared(code, self._state, words, zeros)
        if layout.is_embedded:
            _shared(code, layout.data_symbol, code.types.array(0, code.i8), None)
        if layout.file:
            size = len(layout.file.encode()) + 1
            name = ir.StringAttr.get(layout.file + "\0")
            _shared(code, layout.file_symbol, code.types.array(size, code.i8), name)
        for name, result, arguments in _FUNCTIONS:
            code.declare(name, result, arguments)
        header = layout.header
        states, parts = self._states(code, layout), self._parts(code, layout)
        if parts:
            code.declare(*_RANK)

        def members() -> list[ir.Value]:
            return [
                code.string(header),
                code.i64(len(header.encode())),
                code.i64(layout.room),
                code.address_of(layout.file_symbol) if layout.file else code.null(),
                code.address_of(layout.data_symbol) if layout.is_embedded else code.null(),
                code.address_of(self._state),
                *(code.address_of(name) for name, _, _ in _FUNCTIONS),
                code.address_of(states) if states else code.null(),
                code.i64(len(layout.states)),
                code.i64(layout.state_offsets[-1]),
                code.address_of(parts) if parts else code.null(),
                code.i64(layout.processes),
                code.address_of(_RANK[0]) if parts else code.null(),
            ]

        constant(
            code, self.symbol, ir.Type.parse(_STRUCT), lambda: [members()], linkage="weak_odr",
            is_hidden=True,
        )  # fmt: skip

    def _states(self, code: Code, layout: WeightLayout) -> str:
        """Returns the constant array of the states' descriptions; returns its name, "" of no
        states.
        """
        if not layout.states:
            return ""
        sizes = [
            numbers(code, f"{self.symbol}_sizes_{place}", state.part.sizes)
            for place, state in enumerate(layout.states)
        ]

        def members() -> list[list[ir.Value]]:
            return [
                [
                    code.string(state.name),
                    code.address_of(shape) if shape else code.null(),
                    code.i64(offset),
                    code.i64(state.part.bytes),
                    code.i64(-1 if state.role is Role.ZEROS else layout.places[state.name]),
                    code.i32(len(state.sizes)),
                    code.i32(dtype_of(state.element)),
                ]
                for state, shape, offset in zip(
                    layout.states, sizes, layout.state_offsets, strict=False
                )
            ]

        name = f"{self.symbol}_states"
        kind = code.types.array(len(layout.states), ir.Type.parse(_STATE))
        constant(code, name, kind, members, is_array=True)
        return name

    def _parts(self, code: Code, layout: WeightLayout) -> str:
        """Writes where a device has each weight, and which part of it, in the order of their names'
        bytes; returns the array's name, "" where every device has all of all.
        """
        if layout.parts_places is None:
            return ""
        weights = sorted(layout.weights, key=lambda weight: weight.name.encode())
        cuts = [
            numbers(
                code,
                f"{self.symbol}_cuts_{place}",
                [number for cut in weight.cuts for number in cut],
            )
            for place, weight in enumerate(weights)
        ]

        def members() -> list[list[ir.Value]]:
            return [
                [
                    code.i64(layout.places[weight.name]),
                    code.i64(len(weight.cuts)),
                    code.address_of(cut) if cut else code.null(),
                ]
                for weight, cut in zip(weights, cuts, strict=True)
            ]

        name = f"{self.symbol}_parts"
        constant(
            code, name, code.types.array(len(weights), ir.Type.parse(_PART)), members, is_array=True
        )
        return name

    def state_address(
        self, code: Code, block: ir.Block, stream: ir.Value, failed: ir.Block
    ) -> tuple[ir.Block, ir.Value]:
        """Returns the address of the current instance's state, and the block for what follows."""
        following = block.create_after()
        with ir.InsertionPoint(block):
            given = [code.address_of(self.symbol), stream]
            made = code.value_of_call("hirc_state_address", given, code.types.ptr)
            cf.CondBranchOp(code.is_null(made), [], [], failed, following)
        return following, made

    def address(
        self, code: Code, block: ir.Block, device: ir.Value, failed: ir.Block
    ) -> tuple[ir.Block, ir.Value]:
        """Returns the weights' address on a device, and the block for what follows.

        `block` is where it is asked for; `failed` is gone to where they cannot be loaded.
        """
        types = code.types
        loading = block.create_after()
        following = loading.create_after(types.ptr)
        with ir.InsertionPoint(block):
            place = arith.extui(types.i64, arith.andi(device, code.i32(_DEVICES - 1)))
            slot = code.offset_address(code.address_of(self._state), types.ptr, place)
            loaded = llvm.load_acquired(types.ptr, slot, alignment=8)
            other = arith.cmpi(arith.CmpIPredicate.uge, device, code.i32(_DEVICES))
            missing = arith.ori(code.is_null(loaded), other)
            cf.CondBranchOp(missing, [], [loaded], loading, following)
        with ir.InsertionPoint(loading):
            made = code.value_of_call(
                "hirc_weights_load", [code.address_of(self.symbol)], types.ptr
            )
            cf.CondBranchOp(code.is_null(made), [], [made], failed, following)
        return following, following.arguments[0]


def _shared(code: Code, name: str, kind: ir.Type, value: ir.Attribute | None) -> None:
    """A variable that is one in a linked file; without a value it is another object's."""
    linkage = "external" if value is None else "weak"
    llvm.variable(name, kind, linkage, value=value, is_hidden=True, alignment=8)

"""What verifiers share: saying what is wrong, and the form of regions."""

from ..mlir import ir


def refuse(op: ir.Operation | ir.OpView, message: str) -> bool:
    """Emits an error at `op`'s location; false, which is what a verifier then returns."""
    op.location.emit_error(message)
    return False


def has_one_block(op: ir.OpView, region: ir.Region, what: str, arguments: int = 0) -> bool:
    """Returns whether a region has one block with that many arguments; says what is wrong where
    not.

    `what` names the region: "the body of hir.for".
    """
    blocks = len(region.blocks)
    if blocks == 0:
        return refuse(op, f"{what} is one block; it has none: write ({{ ^bb0: }}) for an empty one")
    if blocks > 1:
        return refuse(op, f"{what} is one block, not {blocks}: hir.for and hir.if are its control")
    found = len(region.blocks[0].arguments)
    if arguments >= 0 and found != arguments:
        wanted = (
            f"{arguments} arguments" if arguments > 1 else ("no arguments", "1 argument")[arguments]
        )
        return refuse(op, f"the block of {what} has {wanted}, not {found}")
    return True


def whole_number(op: ir.OpView, name: str) -> int | None:
    """Returns the integer attribute `name`; None where it is not there or no integer."""
    if name not in op.attributes:
        return None
    attribute = op.attributes[name]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None


def numbers(attribute: ir.Attribute) -> list[int] | None:
    """Returns the numbers of an `array<i64: ...>`; None for any other attribute."""
    return list(attribute) if isinstance(attribute, ir.DenseI64ArrayAttr) else None


def is_positive(op: ir.OpView, name: str, meaning: str) -> bool:
    """Returns whether the attribute `name`, where it is there, is a positive integer."""
    if name not in op.attributes:
        return True
    value = whole_number(op, name)
    if value is None or value <= 0:
        text = str(op.attributes[name])
        return refuse(op, f"{op.operation.name} '{name}' is {meaning}, at least 1; it is {text}")
    return True


def is_text(op: ir.OpView, name: str, meaning: str) -> bool:
    """Returns whether the attribute `name`, where it is there, is a string and not empty."""
    if name not in op.attributes:
        return True
    attribute = op.attributes[name]
    if not isinstance(attribute, ir.StringAttr) or not attribute.value:
        return refuse(
            op,
            f"{op.operation.name} '{name}' is {meaning}, a string, not {attribute}; leave it out",
        )
    return True


def is_unit(op: ir.OpView, name: str) -> bool:
    """Returns whether the attribute `name`, where it is there, is a unit."""
    if name not in op.attributes or isinstance(op.attributes[name], ir.UnitAttr):
        return True
    return refuse(
        op,
        f"{op.operation.name} '{name}' is there or not, and has no value; it is "
        f"{op.attributes[name]}",
    )


def are_three_sizes(op: ir.OpView, name: str) -> bool:
    """Returns whether the attribute `name`, where it is there, holds three positive sizes."""
    if name not in op.attributes:
        return True
    sizes = numbers(op.attributes[name])
    if sizes is None or len(sizes) != 3 or min(sizes) <= 0:
        return refuse(
            op,
            f"{op.operation.name} '{name}' is three positive sizes (x, y, z) as array<i64: ...>; "
            f"it is {op.attributes[name]}",
        )
    return True


def constant_value(value: ir.Value) -> int | None:
    """The number an index or integer value is known to be, or None."""
    owner = value.owner
    if not isinstance(owner, ir.Operation | ir.OpView):
        return None
    if owner.operation.name not in ("arith.constant", "index.constant"):
        return None
    attribute = owner.operation.attributes["value"]
    return attribute.value if isinstance(attribute, ir.IntegerAttr) else None

"""Teams: the devices that communicate, by their numbers."""

from ..mlir import ir
from .refusal import numbers, refuse


def is_team(op: ir.OpView, name: str) -> bool:
    """Returns whether the attribute `name` is a team; says what is wrong where not."""
    if not _are_devices(numbers(op.attributes[name])):
        return refuse(
            op,
            f"{op.operation.name} '{name}' is the numbers of the devices, each once, as "
            f"array<i64: 0, 1>; it is {op.attributes[name]}",
        )
    return True


def are_teams(op: ir.OpView) -> bool:
    """Returns whether an operation has a `team`, or `teams`; says what is wrong where not."""
    if ("team" in op.attributes) == ("teams" in op.attributes):
        return refuse(
            op,
            f"{op.operation.name} has 'team', the devices that communicate, or 'teams', several of "
            "them, of which a device takes its own; and not both",
        )
    if "team" in op.attributes:
        return is_team(op, "team")
    if not teams_of(op.operation):
        return refuse(
            op,
            f"{op.operation.name} 'teams' is teams of one size that share no device, as "
            f"[array<i64: 0, 1>, array<i64: 2, 3>]; it is {op.attributes['teams']}",
        )
    return True


def teams_of(communicator: ir.Operation) -> list[list[int]]:
    """Returns the teams of a hir.communicator: one, or several of one size; none where it has a
    fault.
    """
    if "team" in communicator.attributes:
        team = numbers(communicator.attributes["team"])
        return [team] if team and _are_devices(team) else []
    attribute = communicator.attributes.get("teams")
    if not isinstance(attribute, ir.ArrayAttr):
        return []
    teams = [numbers(team) or [] for team in attribute]
    everybody = [device for team in teams for device in team]
    return teams if _are_devices(everybody) and len({len(team) for team in teams}) == 1 else []


def _are_devices(devices: list[int] | None) -> bool:
    return bool(devices) and min(devices) >= 0 and len(set(devices)) == len(devices)

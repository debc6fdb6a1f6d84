"""What control flow must hold after instructions of a function were changed."""

from __future__ import annotations

from .device_ir import Function
from .phis import phi_incoming, phi_with


def drop_unreachable(function: Function) -> None:
    """Removes the blocks that no thread can come to, and what phis take from them."""
    blocks = {block.name: block for block in function.blocks}
    reached, waiting = set[str](), [function.blocks[0].name]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += blocks[name].terminator.successors
    function.blocks = [block for block in function.blocks if block.name in reached]
    for block in function.blocks:
        for phi in block.phis:
            kept = [
                (value, origin)
                for value, origin in phi_incoming(phi)
                if origin in reached and block.name in blocks[origin].terminator.successors
            ]
            phi.text = phi_with(phi, kept).text

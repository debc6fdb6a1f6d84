"""What the kinds compute with i1; false is less than true."""

from __future__ import annotations

from .integers import UNSIGNED, Emitter

TRUTHS: dict[str, Emitter] = {
    **{name: UNSIGNED[name] for name in ("not", "and", "or", "xor")},
    **{name: UNSIGNED[name] for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "min": UNSIGNED["and"],
    "max": UNSIGNED["or"],
}

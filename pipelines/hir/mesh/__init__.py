"""Programs over a mesh: from what the whole is to what each device does.

- `loops`: the loops of a compute operation, and which dims of its operands they walk
- `views`: how a view is spread, as its buffer is
- `wishes`: how the outputs' spreads would have each value spread
- `choice`: how an operation is divided, at the fewest bytes
- `part_types`: the types of parts, and of views of parts
- `division`: the rewriting, operation by operation
"""

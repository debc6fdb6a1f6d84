"""Communications beside matrix products: both in steps, which overlap.

- `search`: which communications and products may go in steps
- `cost`: in how many steps they take the least time
- `loop`: the loop over streams in their place
"""

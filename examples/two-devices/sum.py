"""Adds a buffer over two devices; prints the program, which each device's process runs."""

import hirc

with hirc.program("main") as p:
    x = p.input("x", ("n",), "f32")
    team = p.communicator([0, 1])
    total = p.allocate((x.shape[0],), "f32")
    p.communicate("allreduce", x * 2, total, team, reduction="sum").wait()
    p.output("y", total)

print(p.text)

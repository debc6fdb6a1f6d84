"""Two chains of work that do not depend on each other, on two streams, and their sum."""

import torch

import hirc

with hirc.program("overlap") as p:
    x = p.input("x", ("n",), "f32")
    y = p.input("y", ("n",), "f32")
    side = p.stream("side")
    side.wait(p.current_stream())
    with side:
        right = y.tanh() * 2.0
        done = p.record()
    left = x.exp() + 1.0
    p.wait(done)
    p.output("z", left + right)

device = "cuda" if torch.cuda.is_available() else "cpu"
x, y = torch.rand(4096, device=device), torch.rand(4096, device=device)
overlap = hirc.compile(p)
print("right:", torch.allclose(overlap(x, y), x.exp() + 1 + y.tanh() * 2))

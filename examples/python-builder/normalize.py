"""Normalises the rows of a matrix: written down as a program, compiled, and called."""

import torch

import hirc

with hirc.program("normalize") as p:
    x = p.input("x", ("rows", 8), "f32")
    centred = x - x.mean(1, keep_dims=True)
    variance = (centred * centred).mean(1, keep_dims=True)
    p.output("y", centred * (variance + 1e-5).rsqrt())

device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.randn(1000, 8, device=device)
normalize = hirc.compile(p)
wanted = torch.nn.functional.layer_norm(x, (8,))
print("as torch's:", torch.allclose(normalize(x), wanted, atol=1e-5))

import hirc
import torch

with hirc.program("layer") as p:
    x = p.input("x", ("n", 4), "f32")
    w = p.input("w", (3, 4), "f32")
    bias = p.input("bias", (3,), "f32")
    p.output("y", p.linear(x, w, bias).relu())

layer = hirc.compile(p, target="cpu")
print(layer(torch.ones(2, 4), torch.full((3, 4), 0.5), bias=torch.tensor([-1.0, 0, 1])))
layer.save("liblayer.so", header="layer.h")

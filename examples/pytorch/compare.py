import hirc
import torch
from net import Net

module, images = Net().eval(), torch.rand(4, 1, 28, 28)
net = hirc.compile(module, (images,), target="cpu")
print(torch.allclose(net(images), module(images), atol=1e-6))
net.save("libnet.so")

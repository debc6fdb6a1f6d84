import torch, time
from torch_mlir import fx
class M(torch.nn.Module):
    def forward(self, x): return torch.softmax(x, -1)
t=time.time()
m = fx.export_and_import(M(), torch.ones(64,128), output_type="linalg-on-tensors", func_name="softmax")
print(m, time.time()-t)

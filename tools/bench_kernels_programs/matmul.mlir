func.func @$name(%x: tensor[M K $T], %y: tensor[K N $T]) -> tensor[M N $O] {
  %zero = arith.constant 0.0 : $A
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %M = tensor.dim %x, %c0 : tensor[M K $T] // dynamic
  %K = tensor.dim %x, %c1 : tensor[M K $T] // dynamic
  %K_y = tensor.dim %y, %c0 : tensor[K N $T] // dynamic
  %N = tensor.dim %y, %c1 : tensor[K N $T] // dynamic
  %equal = arith.cmpi eq, %K, %K_y : index // dynamic
  cf.assert %equal, "mismatching contracting dimension for torch.aten.mm" // dynamic
  %empty = empty[M N $A]
  %start = linalg.fill ins(%zero : $A) outs(%empty : tensor[M N $A]) -> tensor[M N $A]
  %product = linalg.matmul ins(%x, %y : tensor[M K $T], tensor[K N $T])
      outs(%start : tensor[M N $A]) -> tensor[M N $A]
  %result = narrow %product : [M N]
  return %result : tensor[M N $O]
}

func.func @$name(%x: tensor[B M K $T], %y: tensor[B K N $T]) -> tensor[B M N $O] {
  %zero = arith.constant 0.0 : $A
  %c0 = arith.constant 0 : index // dynamic
  %c1 = arith.constant 1 : index // dynamic
  %c2 = arith.constant 2 : index // dynamic
  %B = tensor.dim %x, %c0 : tensor[B M K $T] // dynamic
  %M = tensor.dim %x, %c1 : tensor[B M K $T] // dynamic
  %K = tensor.dim %x, %c2 : tensor[B M K $T] // dynamic
  %B_y = tensor.dim %y, %c0 : tensor[B K N $T] // dynamic
  %K_y = tensor.dim %y, %c1 : tensor[B K N $T] // dynamic
  %N = tensor.dim %y, %c2 : tensor[B K N $T] // dynamic
  %batches_equal = arith.cmpi eq, %B, %B_y : index // dynamic
  cf.assert %batches_equal, "mismatching contracting dimension" // dynamic
  %equal = arith.cmpi eq, %K, %K_y : index // dynamic
  cf.assert %equal, "mismatching contracting dimension" // dynamic
  %empty = empty[B M N $A]
  %start = linalg.fill ins(%zero : $A) outs(%empty : tensor[B M N $A]) -> tensor[B M N $A]
  %product = linalg.batch_matmul ins(%x, %y : tensor[B M K $T], tensor[B K N $T])
      outs(%start : tensor[B M N $A]) -> tensor[B M N $A]
  %result = narrow %product : [B M N]
  return %result : tensor[B M N $O]
}

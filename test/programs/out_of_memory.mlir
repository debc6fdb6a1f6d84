// More memory than any machine has is an error.
func.func @main() {
  %bytes = arith.constant 1000000000000000 : index
  %memory = gpu.alloc (%bytes) : memref<?xi8>
  gpu.dealloc %memory : memref<?xi8>
  return
}

// The host half of saxpy: the kernel is in the translation unit saxpy_kernel.mlir.
func.func private @saxpy(f32, memref<?xf32>, memref<?xf32>)
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 1000 : index
  %shown = arith.constant 5 : index
  %a = arith.constant 2.0 : f32
  %x = memref.alloc(%count) : memref<?xf32>
  %y = memref.alloc(%count) : memref<?xf32>
  scf.for %i = %zero to %count step %one {
    %number = arith.index_cast %i : index to i32
    %value = arith.sitofp %number : i32 to f32
    %half = arith.constant 0.5 : f32
    memref.store %value, %x[%i] : memref<?xf32>
    memref.store %half, %y[%i] : memref<?xf32>
  }
  %dx = gpu.alloc (%count) : memref<?xf32>
  %dy = gpu.alloc (%count) : memref<?xf32>
  gpu.memcpy %dx, %x : memref<?xf32>, memref<?xf32>
  gpu.memcpy %dy, %y : memref<?xf32>, memref<?xf32>
  call @saxpy(%a, %dx, %dy) : (f32, memref<?xf32>, memref<?xf32>) -> ()
  gpu.memcpy %y, %dy : memref<?xf32>, memref<?xf32>
  gpu.dealloc %dx : memref<?xf32>
  gpu.dealloc %dy : memref<?xf32>
  // The last five: 2 * i + 0.5 for i = 995 to 999.
  %start = arith.subi %count, %shown : index
  %tail = memref.subview %y[%start][5][1]
      : memref<?xf32> to memref<5xf32, strided<[1], offset: ?>>
  %copy = memref.alloc() : memref<5xf32>
  memref.copy %tail, %copy : memref<5xf32, strided<[1], offset: ?>> to memref<5xf32>
  %any = memref.cast %copy : memref<5xf32> to memref<*xf32>
  call @printMemrefF32(%any) : (memref<*xf32>) -> ()
  return
}

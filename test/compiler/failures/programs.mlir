// Functions on tensors with weights and with state, and a plain GPU program with memory of every kind.
func.func @dense(%x: tensor<?x4xf32> {hir.name = "x"},
                 %w: tensor<4x3xf32> {hirc.weight = "w"},
                 %b: tensor<3xf32> {hirc.weight = "b"}) -> (tensor<?x3xf32> {hir.name = "y"}) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%n) : tensor<?x3xf32>
  %start = linalg.broadcast ins(%b : tensor<3xf32>) outs(%empty : tensor<?x3xf32>) dimensions = [0]
  %p = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x3xf32>)
                     outs(%start : tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = linalg.softmax dimension(1) ins(%p : tensor<?x3xf32>) outs(%empty : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}

func.func @kept(%x: tensor<1x4xf32> {hir.name = "x"}, %at: index {hir.name = "at"},
                %kept: tensor<8x4xf32> {hirc.state = "kept", hirc.zero_init})
    -> (tensor<4xf32> {hir.name = "sum"}, tensor<8x4xf32> {hirc.updates = 2}) {
  %new = tensor.insert_slice %x into %kept[%at, 0] [1, 4] [1, 1]
      : tensor<1x4xf32> into tensor<8x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %sum = linalg.reduce { arith.addf } ins(%new : tensor<8x4xf32>) outs(%zero : tensor<4xf32>)
      dimensions = [0]
  return %sum, %new : tensor<4xf32>, tensor<8x4xf32>
}

"hir.program"() ({
^bb0(%x: memref<?xf32>, %k: index):
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = memref.dim %x, %zero : memref<?xf32>
  %pinned = "hir.allocate"(%n) {memory = "pinned"} : (index) -> memref<?xf32>
  "hir.set"(%x, %pinned) : (memref<?xf32>, memref<?xf32>) -> ()
  %shared = "hir.allocate"(%n) {memory = "managed", zero_init} : (index) -> memref<?xf32>
  "hir.binary"(%pinned, %shared, %shared) {kind = "add"} : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
  "hir.for"(%zero, %k, %one) ({
  ^bb0(%i: index):
    %t = "hir.unary"(%shared) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
    "hir.binary"(%t, %x, %shared) {kind = "sub"} : (memref<?xf32>, memref<?xf32>, memref<?xf32>) -> ()
  }) : (index, index, index) -> ()
  %y = "hir.unary"(%shared) {kind = "abs"} : (memref<?xf32>) -> memref<?xf32>
  "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
}) {sym_name = "kinds", inputs = [{name = "x", sizes = ["n"]}, {name = "k"}],
    function_type = (memref<?xf32>, index) -> memref<?xf32>} : () -> ()

func.func @main(%n: index, %x: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = memref.alloc(%n) : memref<?xf32>
  %page = memref.alloc(%n) {alignment = 4096} : memref<?xf32>
  %hu = memref.cast %page : memref<?xf32> to memref<*xf32>
  gpu.host_register %hu : memref<*xf32>
  %shared = gpu.alloc host_shared (%n) : memref<?xf32>
  %t0 = gpu.wait async
  %d, %t1 = gpu.alloc async [%t0] (%n) : memref<?xf32>
  %t2 = gpu.memcpy async [%t1] %d, %x : memref<?xf32>, memref<?xf32>
  %t3 = gpu.launch async [%t2] blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
                   threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %v = memref.load %d[%bx] : memref<?xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %d[%bx] : memref<?xf32>
    memref.store %v, %shared[%bx] : memref<?xf32>
    gpu.terminator
  }
  %t4 = gpu.wait async
  %t5 = gpu.memcpy async [%t3, %t4] %h, %d : memref<?xf32>, memref<?xf32>
  %t6 = gpu.dealloc async [%t5] %d : memref<?xf32>
  gpu.wait [%t6]
  %fits = arith.cmpi ult, %n, %n : index
  gpu.host_unregister %hu : memref<*xf32>
  %v = memref.load %h[%c1] : memref<?xf32>
  %s = memref.load %shared[%c0] : memref<?xf32>
  %r = arith.addf %v, %s : f32
  gpu.dealloc %shared : memref<?xf32>
  memref.dealloc %page : memref<?xf32>
  memref.dealloc %h : memref<?xf32>
  return %r : f32
}

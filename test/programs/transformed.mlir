// The program brings its own schedule along: the fill becomes the body of a kernel's loop over tiles.
func.func @main() {
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %m = gpu.alloc host_shared () : memref<8xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %f = arith.constant 2.5 : f32
    linalg.fill ins(%f : f32) outs(%m : memref<8xf32>)
    gpu.terminator
  }
  %v = memref.load %m[%c5] : memref<8xf32>
  vector.print %v : f32
  return
}
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %fill = transform.structured.match ops{["linalg.fill"]} in %root
        : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %fill tile_sizes [4]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// Regions of the async dialect in a loop, a group, and functions: each prints 3 and its number. Then what
// a kernel wrote that a region launched.
async.func @twice(%x: f32) -> !async.value<f32> {
  %y = arith.addf %x, %x : f32
  return %y : f32
}
async.func @work() -> !async.token {
  return
}
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %f = arith.constant 1.5 : f32
  %v = async.call @twice(%f) : (f32) -> !async.value<f32>
  %t0 = async.call @work() : () -> !async.token
  %m = memref.alloc() : memref<4xf32>
  %group = async.create_group %c4 : !async.group
  scf.for %i = %c0 to %c4 step %c1 {
    %t, %r = async.execute [%t0] (%v as %x : !async.value<f32>) -> !async.value<f32> {
      %n = arith.index_cast %i : index to i32
      %nf = arith.sitofp %n : i32 to f32
      %s = arith.addf %x, %nf : f32
      memref.store %s, %m[%i] : memref<4xf32>
      %inner = async.execute {
        async.yield
      }
      async.yield %s : f32
    }
    %q = async.await %r : !async.value<f32>
    vector.print %q : f32
    %p = async.add_to_group %t, %group : !async.token
  }
  async.await_all %group
  // A kernel that an asynchronous region launches, and that is waited for with it.
  %d = gpu.alloc () : memref<1xf32>
  %launched = async.execute {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
      memref.store %f, %d[%tx] : memref<1xf32>
      gpu.terminator
    }
    async.yield
  }
  async.await %launched : !async.token
  %h = memref.alloc() : memref<1xf32>
  gpu.memcpy %h, %d : memref<1xf32>, memref<1xf32>
  %back = memref.load %h[%c0] : memref<1xf32>
  vector.print %back : f32
  gpu.dealloc %d : memref<1xf32>
  memref.dealloc %h : memref<1xf32>
  %l = memref.load %m[%c1] : memref<4xf32>
  vector.print %l : f32
  return
}

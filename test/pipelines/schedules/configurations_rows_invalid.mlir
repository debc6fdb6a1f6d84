// RUN: hirc-opt %s --split-input-file --verify-diagnostics -p 'hir-schedule-kernels{chips=sm_90a}'

// Configurations of rows of which no kernel can be made.

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: 'width' is a power of two up to 4}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", width = 8}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?x?xf32>):
  // expected-error @below {{hir.configuration: 'width' is 4 where rows are peeled}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>) attrs = {hir.configuration = {family = "rows", width = 2, peeled = true}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?x?xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: 'vectors' is at least 1, and 'width' times 'vectors' at most 64}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", vectors = 65}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: 'threads' is a multiple of 32 up to 1024}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", threads = 100}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: 'lanes' times 'rows' is 'threads' where 'rows' is more than 1}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", rows = 2}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: 'rows' is at least 1, and 'lanes' 32 where it is 1}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", lanes = 16}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: 'lanes' is a power of two up to 32}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", rows = 4, lanes = 48, threads = 192}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: 'rows' is 1 where 'kernel' is not kept, or there are clusters, or rows are peeled}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", rows = 4, blocks = 2}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: 'blocks' is a power of two up to 8}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", blocks = 3}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: 'blocks' is 1 where 'kernel' is not kept}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", kernel = "streamed", blocks = 2}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?xf32>):
  // expected-error @below {{hir.configuration: 'open' is false where rows are split, or kept by a tall grid}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) attrs = {hir.configuration = {family = "rows", kernel = "split", open = true}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?xf32>):
  // expected-error @below {{hir.configuration: 'tall' is false where rows are split}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x?xf32>) outs(%y : memref<?xf32>) attrs = {hir.configuration = {family = "rows", kernel = "split", open = false, tall = true, rows = 1}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: 'resident' times 'threads' is at most 2048}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", resident = 100}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: 'layout' is packed or any}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", layout = "rows"}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<300x2048xf32>, %y: memref<300x2048xf32>):
  // expected-error @below {{hir.configuration: what is known of sizes, strides and offsets never allows it}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x2048xf32>) outs(%y : memref<300x2048xf32>) attrs = {hir.configuration = {family = "rows", threads = 32, vectors = 2, resident = 1}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %less = arith.subf %a, %sum : f32
    linalg.yield %less : f32
  }
}) {sym_name = "main", function_type = (memref<300x2048xf32>, memref<300x2048xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<99x14xf32>, %y: memref<99xf32>):
  // expected-error @below {{hir.configuration: 'staged' is false but where rows of known length are written that follow one another, by what takes any numbers}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<99x14xf32>) outs(%y : memref<99xf32>) attrs = {hir.configuration = {family = "rows", staged = true}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    linalg.yield %sum : f32
  }
}) {sym_name = "main", function_type = (memref<99x14xf32>, memref<99xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<9x5000xf32>, %y: memref<9x5000xf32>):
  // expected-error @below {{hir.configuration: 'staged' is false where a block has one row, or rows are 'open' or 'tall'}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<9x5000xf32>) outs(%y : memref<9x5000xf32>) attrs = {hir.configuration = {family = "rows", staged = true}} {
  ^bb0(%a: f32, %o: f32):
    %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
    %d = arith.subf %a, %sum : f32
    linalg.yield %d : f32
  }
}) {sym_name = "main", function_type = (memref<9x5000xf32>, memref<9x5000xf32>) -> ()} : () -> ()

// -----

"hir.program"() ({
^bb0(%x: memref<99x3xf16>, %y: memref<99x3xf16>):
  // expected-error @below {{hir.configuration: 'rows' that are staged take a multiple of 16 bytes}}
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, c)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<99x3xf16>) outs(%y : memref<99x3xf16>) attrs = {hir.configuration = {family = "rows", staged = true, lanes = 16, rows = 4, threads = 64}} {
  ^bb0(%a: f16, %o: f16):
    %most = "hir.reduce_loops"(%a) {kind = "maximumf", loops = array<i64: 1>} : (f16) -> f16
    %d = arith.subf %a, %most : f16
    linalg.yield %d : f16
  }
}) {sym_name = "main", function_type = (memref<99x3xf16>, memref<99x3xf16>) -> ()} : () -> ()

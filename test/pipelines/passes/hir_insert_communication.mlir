// RUN: hirc-opt %s --split-input-file --pass-pipeline='builtin.module(hir-insert-communication)' | FileCheck %s

// An outermost axis to whole: the parts lie in order.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<4x8xf32>):
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() : () -> memref<8x8xf32>
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 1>}
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[X]], %[[Y]], %[[TEAM]]) {kind = "allgather"}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  %y = "hir.reshard"(%x) {from = "axis:0", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>}
    : (memref<4x8xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

// Whole to an outermost axis: every device takes the part that is its own.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() : () -> memref<4x8xf32>
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 1>}
// CHECK-NEXT: %[[RANK:.*]] = "hir.rank"(%[[TEAM]])
// CHECK: %[[START:.*]] = arith.muli
// CHECK: %[[PART:.*]] = "hir.slice"(%[[X]], %[[START]], %{{.*}}) {axis = 0 : i64}
// CHECK-NEXT: "hir.set"(%[[PART]], %[[Y]])
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "whole", to = "axis:0",
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>}
    : (memref<8x8xf32>) -> memref<4x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<4x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// Parts to whole.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() : () -> memref<8x8xf32>
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 1>}
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[X]], %[[Y]], %[[TEAM]]) {kind = "allreduce", reduction = "sum"}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "partial:sum", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>}
    : (memref<8x8xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// Parts to an outermost axis.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() : () -> memref<4x8xf32>
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 1>}
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[X]], %[[Y]], %[[TEAM]]) {kind = "reduce-scatter", reduction = "max"}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "partial:max", to = "axis:0",
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>}
    : (memref<8x8xf32>) -> memref<4x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<4x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// Whole to other devices.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() : () -> memref<8x8xf32>
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 2, 3>}
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[X]], %[[Y]], %[[TEAM]]) {kind = "broadcast", root = 0 : i64}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "whole", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 2, 3>}
    : (memref<8x8xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// Whole to one other device.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() : () -> memref<8x8xf32>
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 2>}
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[X]], %[[Y]], %[[TEAM]]) {kind = "send-recv", root = 0 : i64}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "whole", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 2>}
    : (memref<8x8xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// Whole to more devices, one of which has it.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() : () -> memref<8x8xf32>
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 1>}
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[X]], %[[Y]], %[[TEAM]]) {kind = "broadcast", root = 1 : i64}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "whole", to = "whole",
    from_team = array<i64: 1>, to_team = array<i64: 0, 1>}
    : (memref<8x8xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// An axis to whole on one of its devices.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<4x8xf32>):
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() : () -> memref<8x8xf32>
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 1>}
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[X]], %[[Y]], %[[TEAM]]) {kind = "gather", root = 1 : i64}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  %y = "hir.reshard"(%x) {from = "axis:0", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 1>}
    : (memref<4x8xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

// Parts to whole on one of their devices.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() : () -> memref<8x8xf32>
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 1>}
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[X]], %[[Y]], %[[TEAM]]) {kind = "reduce", reduction = "sum", root = 1 : i64}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "partial:sum", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 1>}
    : (memref<8x8xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// The same axis on the same devices in another order.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<4x8xf32>):
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() : () -> memref<4x8xf32>
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 1>}
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[X]], %[[Y]], %[[TEAM]]) {kind = "permute", to = array<i64: 1, 0>}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  %y = "hir.reshard"(%x) {from = "axis:0", to = "axis:0",
    from_team = array<i64: 0, 1>, to_team = array<i64: 1, 0>}
    : (memref<4x8xf32>) -> memref<4x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<4x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

// Whole on one device to an axis of several.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK-NEXT: %[[Y:.*]] = "hir.allocate"() : () -> memref<4x8xf32>
// CHECK-NEXT: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 1>}
// CHECK-NEXT: %[[R:.*]] = "hir.communicate"(%[[X]], %[[Y]], %[[TEAM]]) {kind = "scatter", root = 0 : i64}
// CHECK-NEXT: "hir.wait"(%[[R]])
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "whole", to = "axis:0",
    from_team = array<i64: 0>, to_team = array<i64: 0, 1>}
    : (memref<8x8xf32>) -> memref<4x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<4x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// An inner axis to whole: the parts are copied to their places.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x4xf32>):
// CHECK: %[[Y:.*]] = "hir.allocate"() : () -> memref<8x8xf32>
// CHECK: %[[PARTS:.*]] = "hir.allocate"() : () -> memref<2x8x4xf32>
// CHECK: "hir.communicate"(%[[X]], %[[PARTS]], %{{.*}}) {kind = "allgather"}
// CHECK: "hir.wait"
// CHECK: %[[SPLIT:.*]] = "hir.reshape"(%[[Y]]) : (memref<8x8xf32>) -> memref<8x2x4xf32>
// CHECK: %[[PLACES:.*]] = "hir.permute"(%[[SPLIT]]) {order = array<i64: 1, 0, 2>}
// CHECK: "hir.set"(%[[PARTS]], %[[PLACES]])
"hir.program"() ({
^bb0(%x: memref<8x4xf32>):
  %y = "hir.reshard"(%x) {from = "axis:1", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>}
    : (memref<8x4xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>) -> ()} : () -> ()

// -----

// Whole on one device to an inner axis of several: the parts are put in order first.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK: %[[PARTS:.*]] = "hir.allocate"() : () -> memref<2x8x4xf32>
// CHECK: %[[SPLIT:.*]] = "hir.reshape"(%[[X]])
// CHECK: %[[PLACES:.*]] = "hir.permute"(%[[SPLIT]]) {order = array<i64: 1, 0, 2>}
// CHECK: "hir.set"(%[[PLACES]], %[[PARTS]])
// CHECK: "hir.communicate"(%[[PARTS]], %{{.*}}, %{{.*}}) {kind = "scatter", root = 0 : i64}
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "whole", to = "axis:1",
    from_team = array<i64: 0>, to_team = array<i64: 0, 1>}
    : (memref<8x8xf32>) -> memref<8x4xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x4xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// One axis to another.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<4x8xf32>):
// CHECK: %[[Y:.*]] = "hir.allocate"() : () -> memref<8x4xf32>
// CHECK: %[[PARTS:.*]] = "hir.allocate"() : () -> memref<2x4x4xf32>
// CHECK: "hir.set"(%{{.*}}, %[[PARTS]])
// CHECK: "hir.communicate"(%[[PARTS]], %[[Y]], %{{.*}}) {kind = "all-to-all"}
// CHECK-NEXT: "hir.wait"
// CHECK-NOT: hir.set
"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  %y = "hir.reshard"(%x) {from = "axis:0", to = "axis:1",
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>}
    : (memref<4x8xf32>) -> memref<8x4xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x4xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

// The same axis on as many other devices: pairs, as one group.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<4x8xf32>):
// CHECK: %[[FIRST:.*]] = "hir.communicator"() {team = array<i64: 0, 2>}
// CHECK: %[[SECOND:.*]] = "hir.communicator"() {team = array<i64: 1, 3>}
// CHECK: %[[ALL:.*]] = "hir.coalesce"() ({
// CHECK-NEXT: %{{.*}} = "hir.communicate"(%[[X]], %[[Y:.*]], %[[FIRST]]) {kind = "send-recv", root = 0 : i64}
// CHECK-NEXT: %{{.*}} = "hir.communicate"(%[[X]], %[[Y]], %[[SECOND]]) {kind = "send-recv", root = 1 : i64}
// CHECK: "hir.wait"(%[[ALL]])
"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  %y = "hir.reshard"(%x) {from = "axis:0", to = "axis:0",
    from_team = array<i64: 0, 1>, to_team = array<i64: 2, 3>}
    : (memref<4x8xf32>) -> memref<4x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<4x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

// An axis to another of other devices: one collects, sends, and one spreads.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<4x8xf32>):
// CHECK: "hir.communicator"() {team = array<i64: 0, 1>}
// CHECK: "hir.communicate"(%[[X]], %[[WHOLE:.*]], %{{.*}}) {kind = "gather", root = 0 : i64} : (memref<4x8xf32>, memref<8x8xf32>
// CHECK: "hir.communicator"() {team = array<i64: 0, 2>}
// CHECK: "hir.communicate"(%[[WHOLE]], %[[MOVED:.*]], %{{.*}}) {kind = "send-recv", root = 0 : i64}
// CHECK: "hir.reshape"(%[[MOVED]])
// CHECK: "hir.communicator"() {team = array<i64: 2, 3, 4, 5>}
// CHECK: {kind = "scatter", root = 2 : i64} : (memref<4x8x2xf32>, memref<8x2xf32>
"hir.program"() ({
^bb0(%x: memref<4x8xf32>):
  %y = "hir.reshard"(%x) {from = "axis:0", to = "axis:1",
    from_team = array<i64: 0, 1>, to_team = array<i64: 2, 3, 4, 5>}
    : (memref<4x8xf32>) -> memref<8x2xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x2xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<4x8xf32>) -> ()} : () -> ()

// -----

// Parts to other devices.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK: "hir.communicate"(%[[X]], %[[WHOLE:.*]], %{{.*}}) {kind = "reduce", reduction = "sum", root = 0 : i64}
// CHECK: "hir.communicate"(%[[WHOLE]], %{{.*}}, %{{.*}}) {kind = "broadcast", root = 0 : i64}
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "partial:sum", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 2, 3>}
    : (memref<8x8xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// Nothing to do: the devices have the whole.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[X]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "whole", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 1>}
    : (memref<8x8xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// Nothing to do: parts may be on the devices in any order.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[X]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "partial:sum", to = "partial:sum",
    from_team = array<i64: 0, 1>, to_team = array<i64: 1, 0>}
    : (memref<8x8xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// Nothing to do: on one device, an axis is whole.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK-NEXT: %{{.*}} = "hir.host_call"
// CHECK-NEXT: "hir.argument"(%[[X]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "axis:0", to = "whole",
    from_team = array<i64: 1>, to_team = array<i64: 1>}
    : (memref<8x8xf32>) -> memref<8x8xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x8xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> ()} : () -> ()

// -----

// Nothing to do, with a destination: a copy.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>, %[[Y:.*]]: memref<8x8xf32>):
// CHECK-NEXT: "hir.set"(%[[X]], %[[Y]])
// CHECK-NEXT: })
"hir.program"() ({
^bb0(%x: memref<8x8xf32>, %y: memref<8x8xf32>):
  "hir.reshard"(%x, %y) {from = "whole", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>}
    : (memref<8x8xf32>, memref<8x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf32>, memref<8x8xf32>) -> ()} : () -> ()

// -----

// Operand and destination with gaps: packed copies on both sides.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<4x8xf32, strided<[16, 1]>>, %[[Y:.*]]: memref<8x8xf32, strided<[16, 1]>>):
// CHECK: %[[PACKED:.*]] = "hir.allocate"() : () -> memref<4x8xf32>
// CHECK-NEXT: "hir.set"(%[[X]], %[[PACKED]])
// CHECK: "hir.communicate"(%[[PACKED]], %[[OUT:.*]], %{{.*}}) {kind = "allgather"}
// CHECK: %[[SPLIT:.*]] = "hir.reshape"(%[[Y]])
// CHECK: "hir.set"(%[[OUT]], %[[SPLIT]])
"hir.program"() ({
^bb0(%x: memref<4x8xf32, strided<[16, 1]>>, %y: memref<8x8xf32, strided<[16, 1]>>):
  "hir.reshard"(%x, %y) {from = "axis:0", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>}
    : (memref<4x8xf32, strided<[16, 1]>>, memref<8x8xf32, strided<[16, 1]>>) -> ()
}) {sym_name = "main", function_type = (memref<4x8xf32, strided<[16, 1]>>, memref<8x8xf32, strided<[16, 1]>>) -> ()} : () -> ()

// -----

// Open sizes: they are computed, and the program checks what it divides and what it is given.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<?x?xf32>, %[[Y:.*]]: memref<?x?xf32>):
// CHECK: %[[N:.*]] = memref.dim %[[X]], %c1
// CHECK: arith.remui %[[N]]
// CHECK: cf.assert %{{.*}}, "hir.reshard: a size that 2 devices divide is no multiple of 2"
// CHECK: cf.assert %{{.*}}, "hir.reshard: dim 1 of the destination has not the size of the result"
// CHECK: "hir.slice"(%[[X]], %{{.*}}, %{{.*}}) {axis = 1 : i64}
// CHECK-NOT: hir.communicate
"hir.program"() ({
^bb0(%x: memref<?x?xf32>, %y: memref<?x?xf32>):
  "hir.reshard"(%x, %y) {from = "whole", to = "axis:1",
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>}
    : (memref<?x?xf32>, memref<?x?xf32>) -> ()
}) {sym_name = "main", function_type = (memref<?x?xf32>, memref<?x?xf32>) -> ()} : () -> ()

// -----

// An output is the caller's buffer, of any strides.
// CHECK-LABEL: "hir.program"() ({
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<8x8xf32>):
// CHECK: %[[Y:.*]] = "hir.allocate"() {output = 0 : i64} : () -> memref<8x8xf32, strided<[?, ?], offset: ?>>
// CHECK: "hir.communicate"(%[[X]], %[[SUM:.*]], %{{.*}}) {kind = "allreduce", reduction = "sum"}
// CHECK: "hir.set"(%[[SUM]], %[[Y]])
// CHECK: "hir.output"(%[[Y]])
"hir.program"() ({
^bb0(%x: memref<8x8xf32>):
  %y = "hir.reshard"(%x) {from = "partial:sum", to = "whole",
    from_team = array<i64: 0, 1>, to_team = array<i64: 0, 1>} : (memref<8x8xf32>) -> memref<8x8xf32>
  "hir.output"(%y) : (memref<8x8xf32>) -> ()
}) {sym_name = "main", function_type = (memref<8x8xf32>) -> memref<8x8xf32>} : () -> ()

// -----

// Over a mesh, an axis takes the place of another: every device sends its part to another one.
// CHECK-LABEL: "hir.program"() ({
// CHECK: %[[TEAM:.*]] = "hir.communicator"() {team = array<i64: 0, 1, 2, 3>}
// CHECK: "hir.communicate"(%{{.*}}, %{{.*}}, %[[TEAM]]) {kind = "permute", to = array<i64: 0, 2, 1, 3>}
// CHECK-NOT: hir.communicate
// CHECK: hir.host_call
"hir.program"() ({
^bb0(%x: memref<4x4xf32>):
  %y = "hir.reshard"(%x) {from = ["axis:0", "axis:1"], to = ["axis:1", "axis:0"], mesh = array<i64: 2, 2>,
    from_team = array<i64: 0, 1, 2, 3>, to_team = array<i64: 0, 1, 2, 3>}
    : (memref<4x4xf32>) -> memref<4x4xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<4x4xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<4x4xf32>) -> ()} : () -> ()

// -----

// The columns of the mesh are one communicator.
// CHECK-LABEL: "hir.program"() ({
// CHECK: %[[TEAM:.*]] = "hir.communicator"() {teams = [array<i64: 0, 2>, array<i64: 1, 3>]}
// CHECK: "hir.communicate"(%{{.*}}, %{{.*}}, %[[TEAM]]) {kind = "allreduce", reduction = "sum"}
// CHECK-NOT: hir.communicate
// CHECK: hir.host_call
"hir.program"() ({
^bb0(%x: memref<8x4xf32>):
  %y = "hir.reshard"(%x) {from = ["partial:sum", "axis:1"], to = ["whole", "axis:1"], mesh = array<i64: 2, 2>,
    from_team = array<i64: 0, 1, 2, 3>, to_team = array<i64: 0, 1, 2, 3>}
    : (memref<8x4xf32>) -> memref<8x4xf32>
  %taken = "hir.host_call"() ({
    "hir.argument"(%y) : (memref<8x4xf32>) -> ()
  }) {callee = @take} : () -> !hir.results_t
}) {sym_name = "main", function_type = (memref<8x4xf32>) -> ()} : () -> ()

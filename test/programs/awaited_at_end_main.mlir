// Calls a function of another translation unit, awaited_at_end_launch.mlir, and uses no GPU itself.
// The end of the program waits for what that one launched, and reports that it failed.
func.func private @launch()
func.func @main() {
  call @launch() : () -> ()
  return
}

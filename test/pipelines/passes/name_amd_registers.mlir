// RUN: hirc-opt %s -p 'gpu.module(name-amd-registers)' | FileCheck %s
// RUN: hirc %s --emit=asm --offload-arch=gfx90a -o - | FileCheck %s --check-prefix=ASM

// A value that differs from lane to lane, disguised.
gpu.module @m {
  // CHECK-LABEL: gpu.func @words
  // CHECK:         llvm.inline_asm has_side_effects "", "=v,0"
  // ASM-LABEL: words:
  // ASM:         ;;#ASMSTART
  gpu.func @words(%x: memref<64xi32>) kernel {
    %lane = gpu.thread_id x
    %a = memref.load %x[%lane] : memref<64xi32>
    %b = llvm.inline_asm has_side_effects "", "=r,0" %a : (i32) -> i32
    memref.store %b, %x[%lane] : memref<64xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @halves
  // CHECK:         llvm.inline_asm has_side_effects "", "=v,0"
  // ASM-LABEL: halves:
  gpu.func @halves(%x: memref<64xi16>) kernel {
    %lane = gpu.thread_id x
    %a = memref.load %x[%lane] : memref<64xi16>
    %b = llvm.inline_asm has_side_effects "", "=h,0" %a : (i16) -> i16
    memref.store %b, %x[%lane] : memref<64xi16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @instruction
  // CHECK:         llvm.inline_asm has_side_effects "s_nop 0", ""
  gpu.func @instruction() kernel {
    llvm.inline_asm has_side_effects "s_nop 0", "" : () -> ()
    gpu.return
  }
}

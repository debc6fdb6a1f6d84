// Kernels that wait: `f` is an array of zeros. The test knows them by their names and lines.

#define FLAG (*(volatile int *)f)
#define NOW() __nvvm_read_ptx_sreg_globaltimer()
#define SECOND 1000000000ull
typedef SHARED long long barrier;

KERNEL void volatile_flag(int *f) { while (!FLAG); }
KERNEL void atomic_flag(int *f) { while (!__atomic_load_n(f, __ATOMIC_ACQUIRE)); }
KERNEL void lock(int *f) { f[1] = 0; for (int i = 0; i < 2; ++i) while (__atomic_exchange_n(f, 1, __ATOMIC_ACQUIRE)); }
KERNEL void compared(int *f) { int none; do none = 1; while (!__atomic_compare_exchange_n(f, &none, 2, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)); }
KERNEL void sleeping(int *f) { while (!FLAG) __nvvm_nanosleep(100); }
KERNEL void endless(int *f) { f[2] = 1; for (;;) __nvvm_membar_cta(); }
KERNEL void endless_branch(int *f) { asm volatile("HERE: bra HERE;"); }
KERNEL void shared_flag(int *f) {
  static SHARED volatile int go;
  if (TX == 0) { while (!go); }
  BARRIER();
}
KERNEL void with_barrier(int *f) { do BARRIER(); while (!FLAG); }
KERNEL void either(int *f) { while (!FLAG) { for (int i = 0; i < 3 && !((volatile int *)f)[1]; ++i) __nvvm_nanosleep(1); } }
KERNEL void each_other(int *f) { int me = BX & 1; while (!((volatile int *)f)[!me]); f[me] = 1; }
KERNEL void phase(int *f) {
  static barrier b;
  if (TX == 0) __nvvm_mbarrier_init_shared(&b, NX + 1);
  BARRIER();
  long long state = __nvvm_mbarrier_arrive_shared(&b);
  while (!__nvvm_mbarrier_test_wait_shared(&b, state));
}
KERNEL void try_wait(int *f) {
  static barrier b;
  int done;
  if (TX == 0) __nvvm_mbarrier_init_shared(&b, 2);
  BARRIER();
  do
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"((unsigned)(unsigned long)&b) : "memory");
  while (!done);
}
KERNEL void bytes(int *f) {
  static barrier b;
  unsigned at = (unsigned)(unsigned long)&b;
  __nvvm_mbarrier_init_shared(&b, 1);
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(at) : "memory");
  asm volatile("{ .reg .pred p;\nL: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@p bra D;\nbra L;\nD: }" :: "r"(at) : "memory");
}
KERNEL void named(int *f) { asm volatile("bar.sync 1, 64;" ::: "memory"); }

// These end, late.
KERNEL void set_late(int *f) { unsigned long long end = NOW() + SECOND * 8 / 5; while (NOW() < end); FLAG = 1; }
KERNEL void set(int *f) { FLAG = 1; }
KERNEL void slow(int *f) { int seen; do { seen = FLAG; unsigned x = seen; for (unsigned i = 0; i < 40000000; ++i) x = (x ^ i) * 5 + (x >> 3); f[4] = x; } while (!seen); }
KERNEL void one_header(int *f) { while (!FLAG) for (int i = 0; i < 20000; ++i) asm volatile(""); } // of both loops, once optimised
KERNEL void next_block(int *f) { if (BX == 1) { unsigned long long end = NOW() + SECOND * 8 / 5; while (NOW() < end); FLAG = 1; } else while (!FLAG); }
KERNEL void timed(int *f) { unsigned long long end = NOW() + SECOND * 8 / 5; while (!FLAG && NOW() < end); }
KERNEL void counted(int *f) { for (int i = 0; i < 25000 && !FLAG; ++i) __nvvm_nanosleep(100); }
KERNEL void ticket(int *f) { while (__atomic_fetch_add(f, 1, __ATOMIC_RELAXED) < 25000); }
KERNEL void seconds(int *f) { for (int i = 0; i < 16; ++i) { unsigned long long end = NOW() + SECOND / 10; while (!TX && NOW() < end); BARRIER(); } FLAG = 1; }

void __assertfail(const char *, const char *, unsigned, const char *, unsigned long);
KERNEL void asserted(int *f) {
  if (TX == 0) {
    __assertfail("it sets the flag", "a.c", 7, "asserted", 1);
    FLAG = 1;
  }
  while (!FLAG);
}

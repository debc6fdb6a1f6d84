static int lock;
KERNEL void k(int*out, int n) {
  for (int i = 0;i<n;i++) {
    _Bool done = 0;
    while (!done) {
      if (__nvvm_atom_cas_gen_i(&lock, 0, 1) == 0) {
        volatile int*o = out;
        o[0] = o[0]+1;
        __nvvm_membar_gl();
        __nvvm_atom_xchg_gen_i(&lock, 0);
        done = 1;
      }
    }
  }
}

KERNEL void k2(int*out, int n) {
  for (int i = 0;i<n;i++) {
    while (__nvvm_atom_cas_gen_i(&lock, 0, 1) != 0);
    volatile int*o = out;
    o[0] = o[0]+1;
    __nvvm_membar_gl();
    __nvvm_atom_xchg_gen_i(&lock, 0);
  }
}

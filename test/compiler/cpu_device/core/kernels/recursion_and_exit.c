NOINLINE void bye(int n) {
  if (n == 5) __nvvm_exit();
}

NOINLINE int rec(int n, int*o) {
  if (n == 0) return 1;
  *o += n;
  return rec(n-1, o)+rec(n/2, o);
}

KERNEL void k(int*out) {
  int t = TX;
  bye(t);
  BARRIER();
  int local = 0;
  int r = rec(t%6, &local);
  BARRIER();
  out[t] = local*100+r;
}

KERNEL void one(int*out) {
  BARRIER();
  out[0] = __nvvm_shfl_sync_bfly_i32(1, 7, 0, 31)+NX;
}

int printf(const char*, ...);
KERNEL void k(int*out, int n) {
  int t = TX;
  if (t == n) __nvvm_exit();
  int x = t;
  if (t&1) {
    if (t == 3) __nvvm_exit();
    x += 5;
  }
  BARRIER();
  out[t] = x;
}

KERNEL void k(int*out, int n) {
  int t = TX;
  if (t >= n) return;
  if (t == 3) {
    out[t] = -1;
    return;
  }
  int x = t;
  for (int i = 0;i<3;i++) {
    if (i == 1 && t == 5) {
      out[t] = -5;
      return;
    }
    BARRIER();
    x += i;
  }
  out[t] = x;
}

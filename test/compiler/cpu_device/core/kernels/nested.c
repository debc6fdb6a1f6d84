SHARED int s[256];
KERNEL void k(int*out, int n) {
  int t = TX;
  int acc = 0;
  for (int i = 0;i<n;i++) {
    s[t] = i*t;
    BARRIER();
    for (int j = 0;j<i;j++) {
      acc += s[(t+j)%NX];
      BARRIER();
      s[t] += j;
      BARRIER();
    }
    BARRIER();
  }
  out[t] = acc;
}

KERNEL void k(int*out, int n) {
  int a = TX, b = 1, c = TX*3;
  for (int i = 0;i<n;i++) {
    int t = a;
    a = b+i;
    b = t;
    if ((i^TX)&1) c += a;
    BARRIER();
    if (i == 5) c ^= b;
  }
  out[TX] = a+b*7+c*31;
}

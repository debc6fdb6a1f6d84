KERNEL void k(int*out, int n) {
  int t = TX;
  for (int i = 0;i<12;i++) {
    int a[4] = {i, t, 3, 4};
    a[i&3] += t;
    BARRIER();
    if (i>n/5) break;
    out[t] += a[(i+1)&3];
  }
  {
    int b[6];
    for (int i = 0;i<6;i++) b[i] = i+t;
    BARRIER();
    out[t] += b[t%6];
  }
  {
    int b[6];
    for (int i = 0;i<6;i++) b[i] = i*t;
    BARRIER();
    out[t] += b[t%6];
  }
}

SHARED int s[64];
KERNEL void k(int*out, int n) {
  int t = TX;
  int a[17];
  int b[4][5];
  double d[3];
  volatile char c[3];
  for (int i = 0;i<17;i++) a[i] = i*t;
  for (int i = 0;i<4;i++) for (int j = 0;j<5;j++) b[i][j] = i*j+t;
  d[0] = t;
  d[1] = 2;
  d[2] = 3;
  c[0] = 1;
  c[1] = t;
  c[2] = 3;
  s[t] = t%17;
  BARRIER();
  int i = s[(t+n)%64];
  int x = a[i];
  a[(i+3)%17] += 1000;
  BARRIER();
  s[t] = a[(t+i)%17];
  BARRIER();
  for (int q = 0;q<n;q++) {
    b[q%4][i%5] += q;
    BARRIER();
    x += b[t%4][q%5];
  }
  out[t] = x+s[(t+1)%64]+(int)d[t%3]+c[t%3];
}

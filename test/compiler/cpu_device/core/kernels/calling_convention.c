typedef struct {int a[8];} B;
NOINLINE int f(B b, int i) {
  b.a[i] = 100;
  int s = 0;
  for (int j = 0;j<8;j++) s += b.a[j];
  return s;
}

NOINLINE B g(int x) {
  B b;
  for (int i = 0;i<8;i++) b.a[i] = x*i;
  return b;
}

typedef float v8 __attribute__((vector_size(32)));
NOINLINE v8 vf(v8 a, v8 b, int n) {
  if (n>0) return vf(b, a+b, n-1);
  return a*b;
}

KERNEL void k(int*out, float*fo) {
  int t = TX;
  B b = g(t);
  int x = f(b, t%8)+f(b, (t+1)%8)*1000;
  BARRIER();
  out[t] = x;
  v8 a = {t, 1, 2, 3, 4, 5, 6, 7};
  v8 r = vf(a, a+1.f, 3);
  for (int i = 0;i<8;i++) fo[t*8+i] = r[i];
}

SHARED int s[64];
extern SHARED int dyn[];
NOINLINE int l3(int v) {
  s[TX] = v;
  BARRIER();
  int x = s[(TX+1)%NX];
  BARRIER();
  return x;
}

NOINLINE int l2(int v, int n) {
  for (int i = 0;i<n;i++) v = l3(v)+1;
  return v;
}

NOINLINE int l1(int v, int n) {
  if (n>2) return l2(v, n);
  return l3(v);
}

NOINLINE void dset(int i, int v) {
  dyn[i] = v;
}

NOINLINE int dget(int i) {
  return dyn[i];
}

KERNEL void k(int*out, int n) {
  out[TX] = l1(TX, n)+l2(TX, 1);
}

SHARED int other[100];
KERNEL void k2(int*out, int n) {
  other[TX] = TX*5;
  dset(TX, TX+1);
  dyn[TX+NX] = 7;
  BARRIER();
  out[TX] = l3(other[NX-1-TX])+dget(NX-1-TX)*1000+dyn[NX+TX]*100000;
}

KERNEL void k3(int*out, int n) {
  dyn[TX] = TX+1;
  BARRIER();
  out[TX] = dget(NX-1-TX);
}

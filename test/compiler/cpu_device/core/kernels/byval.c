typedef struct {int a[6]; int b; i64 c;} P;
KERNEL void k(P p, int*out) {
  int t = TX;
  p.a[t%6] += t;
  p.b = t;
  BARRIER();
  p.a[(t+1)%6] *= 2;
  BARRIER();
  int s = 0;
  for (int i = 0;i<6;i++) s += p.a[i]*(i+1);
  out[t] = s+p.b+(int)p.c;
}

KERNEL void k2(P p, int*out) {
  int t = TX;
  p.a[t%6] += t;
  int s = 0;
  for (int i = 0;i<6;i++) s += p.a[i]*(i+1);
  out[t] = s+p.b+(int)p.c;
}

KERNEL void k3(P p, int*out) {
  int t = TX;
  BARRIER();
  out[t] = p.a[t%6];
}

SHARED int s1[32];
SHARED int s2[32];
NOINLINE int get(int SHARED *p, int i) {
  return p[i];
}

typedef struct {int*a; int*b; int n;} D;
NOINLINE int usesd(D d, int i) {
  return d.a[i]+d.b[i]*d.n;
}

NOINLINE void put(int**pp) {
  pp[0] = (int*)s2;
  pp[1] = (int*)(s1+3);
}

KERNEL void k(int*out, int n) {
  int t = TX;
  s1[t] = t;
  s2[t] = 100+t;
  BARRIER();
  int SHARED *p = n == 1? s1+4 : s2+2;
  for (int i = 0;i<n;i++) p = (p == s1+4)? s2+1 : p+1;
  D d = {(int*)(s1+1), (int*)(s2+2), n};
  int*q[2];
  put(q);
  BARRIER();
  out[t] = get(p, t%4)+ (t<28? get(n&1? s1:s2, t+3):0)*1000+usesd(d, t%8)*100000+q[0][t]+q[1][t%16];
}

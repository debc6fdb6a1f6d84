SHARED int s[64];
KERNEL void k(int*out, int n) {
  int t = TX;
  int v = t, keep = 0;
  _Bool p = 0;
  for (int i = 0;i<n;i++) {
    int a = __nvvm_shfl_sync_idx_i32(-1, v, (t+i)&31, 31);
    p ^= __nvvm_vote_any_sync(-1, a == i);
    u32 b = __nvvm_vote_ballot_sync(-1, a&1);
    if (t&4) {
      for (int j = 0;j<(t&3);j++) keep += a*j;
    }
    v = a+(b&3)+keep;
    if (p) v++;
  }
  s[t] = v;
  BARRIER();
  out[t] = s[NX-1-t]+p;
}

typedef struct {int a; float b[3];} S;
KERNEL void st(int*out, int n) {
  int t = TX;
  S x = {t, {1, 2, 3}};
  for (int i = 0;i<n;i++) {
    S y;
    if ((i^t)&1) {
      y = x;
      y.a += i;
    }  else {
      y = (S) {
        i, {x.b[2], x.b[0], t}
      }
      ;
    }
    x = y;
    BARRIER();
  }
  out[t] = x.a+(int)(x.b[0]*100+x.b[1]*10000+x.b[2]*1000000);
}

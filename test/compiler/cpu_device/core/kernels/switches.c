SHARED int s[64];
KERNEL void k(int*out, int m) {
  int t = TX;
  int v;
  switch (t%5) {
    case 0: v = t*2;
    break;
    case 1: v = 7;
    break;
    case 2: v = -t;
    break;
    case 3: v = t*t;
    break;
    default: v = m;
  }
  s[t] = v;
  BARRIER();
  switch (m) {
    case 1: v += s[(t+1)%64];
    BARRIER();
    break;
    case 2: BARRIER();
    v -= s[0];
    case 3: v += 1;
    BARRIER();
    break;
    case 1000000: v = 0;
  }
  out[t] = v;
}

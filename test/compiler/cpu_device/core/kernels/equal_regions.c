// Regions that are the same but for names, places in the frame and states, and some that look it.
#define KEPT(NAME, TYPE, BEFORE, AFTER)                                                            \
  KERNEL void NAME(int *o, int *p) {                                                               \
    int t = TX + NX * TY;                                                                          \
    TYPE a = p[t], b = p[t + 64];                                                                  \
    BEFORE;                                                                                        \
    BARRIER();                                                                                     \
    AFTER;                                                                                         \
    BARRIER();                                                                                     \
    p[t] = 0;                                                                                      \
    BARRIER();                                                                                     \
    o[t] += a - b;                                                                                 \
  }
KEPT(one, int, , o[t] = p[63 - t])
KEPT(same, int, , o[t] = p[63 - t])
// What is kept lies elsewhere.
KEPT(other_places, int, i64 c = p[5], o[t] = p[63 - t] + (int)c)
KEPT(swapped, int, (t = a, a = b, b = t, t = TX + NX * TY), o[t] = p[63 - t])
KEPT(other_type, u8, , o[t] = p[63 - t])
KEPT(other_number, int, , o[t] = p[62 - t + 1] + 1)
// The same text where parameters or coordinates change places.
KERNEL void parameters(int *p, int *o) {
  int t = TX + NX * TY, a = p[t], b = p[t + 64];
  BARRIER();
  o[t] = p[63 - t];
  BARRIER();
  p[t] = 0;
  BARRIER();
  o[t] += a - b;
}
KERNEL void along_x(int *o) { BARRIER(); o[TX] = TX + 10 * TY; }
KERNEL void along_y(int *o) { BARRIER(); o[TY] = TY + 10 * TX; }
// One way to go on, or two.
KERNEL void parts(int *o, int *p) {
  int a = p[TX];
  BARRIER();
  if (p[3]) { o[TX] = a; BARRIER(); o[TX] += p[TX + 1]; }
  else { o[TX] = -a; BARRIER(); o[TX] -= p[TX + 1]; }
}
KERNEL void parts_again(int *o, int *p) {
  i64 c = p[TX] * 3;
  int a = p[TX];
  BARRIER();
  if (p[3]) { o[TX] = a; BARRIER(); o[TX] += p[TX + 1]; }
  else { o[TX] = -a; BARRIER(); o[TX] -= p[TX + 1]; }
  BARRIER();
  o[TX] += (int)c;
}
// Within a kernel they lead to different states.
KERNEL void steps(int *o) {
  o[TX] += 1; BARRIER(); o[TX] += 2; BARRIER(); o[TX] += 2; BARRIER(); o[TX] += 2; BARRIER(); o[TX] += 3;
}

SHARED volatile int flag;
SHARED volatile int data[8];
KERNEL void k(int*out) {
  int t = TX;
  if (t == 0) flag = 0;
  BARRIER();
  int w = t/32;
  if (t%32 == 0) {
    while (flag != w);
    data[w] = w? data[w-1]*2+1:1;
    __nvvm_membar_cta();
    flag = w+1;
  }
  BARRIER();
  out[t] = data[w];
}

KERNEL void rev(int*out) {
  int t = TX;
  if (t == 0) flag = NX-1;
  BARRIER();
  _Bool d = 0;
  int turns = 0;
  do {
    if (flag == t) {
      out[t] = t*2;
      __nvvm_membar_cta();
      flag = t-1;
      d = 1;
    }
    turns++;
  }
  while (!d);
  BARRIER();
}

NOINLINE void waitfor(volatile SHARED int*f, int v) {
  while (*f != v);
}

KERNEL void rev2(int*out) {
  int t = TX;
  if (t == 0) flag = NX-1;
  BARRIER();
  waitfor(&flag, t);
  out[t] = t*2;
  __nvvm_membar_cta();
  flag = t-1;
  BARRIER();
}

static int gflag;
KERNEL void blocks(int*out) {
  if (TX == 0) {
    while (__nvvm_atom_add_gen_i(&gflag, 0) != (int)__nvvm_read_ptx_sreg_nctaid_x()-1-BX);
    out[BX] = BX+1;
    __nvvm_atom_add_gen_i(&gflag, 1);
  }
}

NOINLINE int fib(int n) {
  return n<2? n: fib(n-1)+fib(n-2);
}

NOINLINE int odd(int n);
NOINLINE int even(int n) {
  return n == 0?1:odd(n-1);
}

NOINLINE int odd(int n) {
  return n == 0?0:even(n-1);
}

typedef int F(int);
NOINLINE int tri(int n) {
  return n*3;
}

NOINLINE int quad(int n) {
  return n*4+TX;
}

F* const table[3] = {fib, tri, quad};
F* var[2] = {quad, tri};
KERNEL void k(int*out) {
  int t = TX;
  int a = fib(t%10);
  BARRIER();
  out[t] = a+even(t)*1000+table[t%3](t%7)*10000+var[t%2](t)*1000000;
}

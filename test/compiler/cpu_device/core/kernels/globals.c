int g[4] = {1, 2, 3, 4};
typedef struct{int a; float f; int*p; const char*s;} G;
CONSTANT const char msg[] = "hello";
int z[100];
G gs = {5, 2.5f, &g[2], "world"};
G*pg = &gs;
CONSTANT int c4[3] = {7, 8, 9};
static int counter;
int **pp = (int*[]) {
  g, z
}

;
typedef struct __attribute__((packed)) {
  char a;
  int b;
  short c;
}

Pk;
Pk pk = {1, -70000, 300};
KERNEL void k(int*out) {
  int t = TX;
  out[t] = g[t%4]+*pg->p*10+pg->s[t%5]*100+msg[t%5]*100000+c4[t%3]+pk.b+pk.c;
  __nvvm_atom_add_gen_i(&counter, t);
  BARRIER();
  pp[1][t] = counter;
  BARRIER();
  out[t] += z[t];
}

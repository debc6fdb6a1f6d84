SHARED int s[1024];
KERNEL void k(int*out) {
  int id = TX+NX*(TY+NY*TZ);
  int n = NX*NY*NZ;
  s[id] = TX+100*TY+10000*TZ;
  BARRIER();
  out[BX*n+id] = s[n-1-id];
}

KERNEL void h(int*hist, int*out, float*f, double*d) {
  int t = TX;
  __nvvm_atom_add_gen_i(hist+(t%5), 1);
  int a = __nvvm_atom_max_gen_i(out, t*7%64);
  __nvvm_atom_min_gen_i(out+1, -t);
  __nvvm_atom_and_gen_i(out+2, ~(1 << (t%32)));
  __nvvm_atom_or_gen_i(out+3, 1 << (t%32));
  __nvvm_atom_xor_gen_i(out+4, t);
  __nvvm_atom_inc_gen_ui(out+5, 10);
  __nvvm_atom_dec_gen_ui(out+6, 9);
  __nvvm_atom_add_gen_f(f, 0.5f);
  __nvvm_atom_add_gen_d(d, 0.25);
  __hip_atomic_fetch_add((_Float16*)(f+1), (_Float16)1, 0, 4);
  __hip_atomic_fetch_add((__bf16*)(f+2), (__bf16)1.f, 0, 4);
  __hip_atomic_fetch_max(f+3, (float)t, 0, 4);
  __hip_atomic_fetch_min(d+1, (double)-t, 0, 4);
  float old = f[4], nw;
  do {
    nw = old+t;
  } while (!__atomic_compare_exchange(&f[4], &old, &nw, 0, 5, 5));
}

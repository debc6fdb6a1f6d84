KERNEL void k(int*out, int n) {
  int t = TX;
  u32 m = __nvvm_activemask();
  int x = __nvvm_shfl_sync_bfly_i32(-1, t*3, 1, 31);
  int y = __nvvm_shfl_sync_down_i32(-1, t, 5, 31);
  int z = __nvvm_shfl_sync_up_i32(-1, t, 3, ((32-8) << 8));
  int w = __nvvm_shfl_sync_idx_i32(-1, t, t*7, ((32-16) << 8)|31);
  out[t] = x;
  out[n+t] = y;
  out[2*n+t] = z;
  out[3*n+t] = w;
  out[4*n+t] = m;
}

// What the device says about itself: see device_properties.c.
#ifndef HIRC_DEVICE_H
#define HIRC_DEVICE_H

#include "cuda_abi.h"

struct cuda_device_properties { // cudaDeviceProp
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  size_t global_bytes;
  size_t shared_bytes_per_block;
  int registers_per_block;
  int warp_size;
  size_t max_pitch;
  int max_threads_per_block;
  int max_block[3];
  int max_grid[3];
  size_t constant_bytes;
  int major, minor;
  size_t texture_alignment;
  size_t texture_pitch_alignment;
  int multiprocessors;
  int integrated;
  int can_map_host_memory;
  int textures_and_surfaces[39]; // sizes: none; see the two alignments
  size_t surface_alignment;
  int concurrent_kernels;
  int ecc_enabled;
  int pci_bus, pci_device, pci_domain;
  int tcc_driver;
  int async_engines;
  int unified_addressing;
  int memory_bus_width;
  int l2_bytes;
  int persisting_l2_max_bytes;
  int max_threads_per_multiprocessor;
  int stream_priorities;
  int global_l1_cache, local_l1_cache;
  size_t shared_bytes_per_multiprocessor;
  int registers_per_multiprocessor;
  int managed_memory;
  int multi_gpu_board, multi_gpu_board_group;
  int host_native_atomics;
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption;
  int can_use_host_pointer_for_registered;
  int cooperative_launch;
  size_t shared_bytes_per_block_opt_in;
  int pageable_uses_host_page_tables;
  int direct_managed_access_from_host;
  int max_blocks_per_multiprocessor;
  int access_policy_max_window;
  size_t reserved_shared_bytes_per_block;
  int host_register;
  int sparse_arrays;
  int host_register_read_only;
  int timeline_semaphores;
  int memory_pools;
  int gpu_direct_rdma;
  unsigned gpu_direct_rdma_flush;
  int gpu_direct_rdma_ordering;
  unsigned pool_handle_types;
  int deferred_mapping_arrays;
  int ipc_events;
  int cluster_launch;
  int unified_function_pointers;
  int numa_config, numa_id;
  int mps;
  int host_numa_id;
  unsigned pci_ids, pci_subsystem_ids;
  int host_numa_multinode_ipc;
  int reserved[56];
};

#endif

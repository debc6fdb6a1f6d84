// Clusters in flight: where their memory comes from, and what they are in their grid. A worker uses
// its clusters again and again.
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum {
  ALIGNMENT = 64,
  MOST_KEPT = 1 << 20, // bytes of frames of a block that is not in use
};

static void *allocate(size_t bytes) {
  return aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

static bool grow(char **memory, size_t *room, size_t bytes) {
  if (*room < bytes) {
    free(*memory);
    *memory = allocate(bytes);
    *room = *memory != NULL ? bytes : 0;
  }
  return *room >= bytes;
}

static bool grow_cluster(struct hirc_cluster *cluster, uint32_t blocks) {
  struct hirc_running_block **all = realloc(cluster->blocks, blocks * sizeof *all);
  if (all == NULL) {
    return false;
  }
  cluster->blocks = all;
  for (; cluster->room < blocks; cluster->room++) {
    struct hirc_running_block *block = allocate(sizeof *block);
    if (block == NULL) {
      return false;
    }
    all[cluster->room] = memset(block, 0, sizeof *block);
  }
  return true;
}

// Everything of a block that is the same throughout the grid. False if there is no memory for it.
static bool configure_block(struct hirc_running_block *running, struct hirc_cluster *cluster,
                            const struct hirc_grid_run *run, uint32_t rank) {
  const struct hirc_grid *grid = run->grid;
  struct hirc_block *block = &running->block;
  running->cluster = cluster;
  block->grid = grid->grid;
  block->size = grid->block;
  block->cluster_size = grid->cluster;
  block->cluster_grid = run->clusters;
  block->index_in_cluster = (struct hirc_extent){
      rank % grid->cluster.x, rank / grid->cluster.x % grid->cluster.y,
      rank / (grid->cluster.x * grid->cluster.y)};
  block->rank_in_cluster = rank;
  block->blocks_in_cluster = run->blocks_in_cluster;
  block->dynamic_shared_bytes = grid->dynamic_shared_bytes;
  block->threads = grid->block.x * grid->block.y * grid->block.z;
  block->lanes = grid->kernel->flags & HIRC_KERNEL_WIDE ? HIRC_MAX_LANES : HIRC_WARP_SIZE;
  if (grid->kernel->flags & HIRC_KERNEL_AMD) {
    block->hidden = (struct hirc_hidden_arguments){
        .blocks = {block->grid.x, block->grid.y, block->grid.z},
        .size = {(uint16_t)block->size.x, (uint16_t)block->size.y, (uint16_t)block->size.z},
        .dimensions = 3};
  }
  block->padded_threads = (block->threads + block->lanes - 1) / block->lanes * block->lanes;
  block->next = running->next;
  block->grid_id = grid->id;
  block->kernel = grid->kernel;
  block->cluster = (struct hirc_block *const *)cluster->blocks;
  if (running->arena == NULL) {
    running->arena = hirc_arena_create();
  }
  block->shared = running->arena;
  return running->arena != NULL &&
         grow(&block->frames, &running->frames_room,
              (size_t)grid->kernel->frame_bytes * block->padded_threads) &&
         grow(&block->exchange, &running->exchange_room,
              (size_t)grid->kernel->exchange_bytes * block->padded_threads);
}

void hirc_cluster_give(struct hirc_worker *worker, struct hirc_cluster *cluster) {
  // One that waits to be used again keeps its memory; so do others if it is little.
  for (uint32_t rank = 0; worker->spare != NULL && rank < cluster->room; rank++) {
    struct hirc_running_block *running = cluster->blocks[rank];
    if (running->frames_room > MOST_KEPT) {
      free(running->block.frames);
      running->block.frames = NULL;
      running->frames_room = 0;
    }
  }
  cluster->link = worker->spare;
  worker->spare = cluster;
}

static bool configure_cluster(struct hirc_cluster *cluster, const struct hirc_grid_run *run) {
  cluster->count = run->blocks_in_cluster;
  bool done = cluster->room >= cluster->count || grow_cluster(cluster, cluster->count);
  for (uint32_t rank = 0; done && rank < cluster->count; rank++) {
    done = configure_block(cluster->blocks[rank], cluster, run, rank);
  }
  return done;
}

struct hirc_cluster *hirc_cluster_take(struct hirc_worker *worker,
                                       const struct hirc_grid_run *run) {
  struct hirc_cluster *cluster = worker->spare;
  if (cluster != NULL) {
    worker->spare = cluster->link;
  } else {
    cluster = calloc(1, sizeof *cluster);
  }
  if (cluster != NULL && !configure_cluster(cluster, run)) {
    hirc_cluster_give(worker, cluster);
    return NULL;
  }
  return cluster;
}

void hirc_clusters_release(struct hirc_worker *worker) {
  while (worker->spare != NULL) {
    struct hirc_cluster *cluster = worker->spare;
    worker->spare = cluster->link;
    for (uint32_t rank = 0; rank < cluster->room; rank++) {
      free(cluster->blocks[rank]->block.frames);
      free(cluster->blocks[rank]->block.exchange);
      free(cluster->blocks[rank]);
    }
    free(cluster->blocks);
    free(cluster);
  }
}

static struct hirc_extent position(uint64_t number, struct hirc_extent size) {
  if (number < size.x) {
    return (struct hirc_extent){(uint32_t)number, 0, 0};
  }
  uint64_t row = number / size.x;
  return (struct hirc_extent){(uint32_t)(number % size.x), (uint32_t)(row % size.y),
                              (uint32_t)(row / size.y)};
}

void hirc_cluster_place(struct hirc_cluster *cluster, const struct hirc_grid_run *run,
                        uint64_t number) {
  struct hirc_extent at = position(number, run->clusters), size = run->grid->cluster;
  for (uint32_t rank = 0; rank < cluster->count; rank++) {
    struct hirc_block *block = &cluster->blocks[rank]->block;
    block->cluster_index = at;
    block->index = (struct hirc_extent){at.x * size.x + block->index_in_cluster.x,
                                        at.y * size.y + block->index_in_cluster.y,
                                        at.z * size.z + block->index_in_cluster.z};
  }
  hirc_cluster_begin(cluster);
}

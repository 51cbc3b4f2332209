#include "machine/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/parallel.h"

namespace eflops::machine {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t tree) const { hwloc_topology_destroy(tree); }
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Tree = std::unique_ptr<hwloc_topology, Destroy>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, Destroy>;

Tree load_tree() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw DataError("the machine's topology cannot be read (hwloc)");
  Tree tree(raw);
  if (hwloc_topology_load(raw) != 0) throw DataError("the machine's topology cannot be read (hwloc)");
  return tree;
}

// Hardware threads the pool may run on. All its threads are asked, because OMP_PROC_BIND binds each to a place of its
// own.
Bitmap usable_threads(hwloc_topology_t tree) {
  Bitmap usable(hwloc_bitmap_alloc());
  std::mutex mutex;
  parallel_for(thread_count(), 1, [&](std::int64_t, std::int64_t) {
    const Bitmap own(hwloc_bitmap_alloc());
    if (hwloc_get_cpubind(tree, own.get(), HWLOC_CPUBIND_THREAD) != 0) return;
    const std::lock_guard lock(mutex);
    hwloc_bitmap_or(usable.get(), usable.get(), own.get());
  });
  const hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(tree);
  hwloc_bitmap_and(usable.get(), usable.get(), allowed);
  if (hwloc_bitmap_iszero(usable.get()) != 0) hwloc_bitmap_copy(usable.get(), allowed);
  return usable;
}

std::string kind_name(hwloc_obj_cache_type_t kind) {
  if (kind == HWLOC_OBJ_CACHE_DATA) return "data";
  return kind == HWLOC_OBJ_CACHE_INSTRUCTION ? "instruction" : "unified";
}

std::vector<Cache> read_caches(hwloc_topology_t tree) {
  std::vector<Cache> caches;
  for (int depth = 0; depth < hwloc_topology_get_depth(tree); ++depth) {
    if (hwloc_obj_type_is_cache(hwloc_get_depth_type(tree, depth)) == 0) continue;
    const hwloc_obj_t first = hwloc_get_obj_by_depth(tree, depth, 0);
    caches.push_back({.level = static_cast<int>(first->attr->cache.depth),
                      .kind = kind_name(first->attr->cache.type),
                      .bytes = first->attr->cache.size,
                      .count = static_cast<int>(hwloc_get_nbobjs_by_depth(tree, depth))});
  }
  std::ranges::stable_sort(caches, {}, &Cache::level);
  return caches;
}

std::vector<int> usable_cores_of(hwloc_topology_t tree, hwloc_const_bitmap_t socket, hwloc_const_bitmap_t usable) {
  std::vector<int> cores;
  const Bitmap threads(hwloc_bitmap_alloc());
  for (hwloc_obj_t core = nullptr;
       (core = hwloc_get_next_obj_covering_cpuset_by_type(tree, socket, HWLOC_OBJ_CORE, core)) != nullptr;) {
    hwloc_bitmap_and(threads.get(), core->cpuset, usable);
    if (const int first = hwloc_bitmap_first(threads.get()); first >= 0) cores.push_back(first);
  }
  return cores;
}

int count(hwloc_topology_t tree, hwloc_obj_type_t type) { return std::max(0, hwloc_get_nbobjs_by_type(tree, type)); }

}  // namespace

int Topology::usable_core_count() const {
  std::size_t total = 0;
  for (const std::vector<int>& socket : usable_cores) total += socket.size();
  return static_cast<int>(total);
}

std::uint64_t Topology::last_level_cache_bytes() const {
  int level = 0;
  std::uint64_t bytes = 0;
  for (const Cache& cache : caches) {
    if (cache.level < level || cache.kind == "instruction") continue;
    level = cache.level;
    bytes = cache.bytes * static_cast<std::uint64_t>(cache.count);
  }
  return bytes;
}

Topology read_topology() {
  const Tree tree = load_tree();
  const Bitmap usable = usable_threads(tree.get());
  Topology found;
  found.numa_nodes = count(tree.get(), HWLOC_OBJ_NUMANODE);
  found.cores = count(tree.get(), HWLOC_OBJ_CORE);
  found.hardware_threads = count(tree.get(), HWLOC_OBJ_PU);
  found.caches = read_caches(tree.get());
  for (hwloc_obj_t socket = nullptr;
       (socket = hwloc_get_next_obj_by_type(tree.get(), HWLOC_OBJ_PACKAGE, socket)) != nullptr;)
    found.usable_cores.push_back(usable_cores_of(tree.get(), socket->cpuset, usable.get()));
  // Some virtual machines show no socket: the whole machine is one.
  if (found.usable_cores.empty())
    found.usable_cores.push_back(usable_cores_of(tree.get(), hwloc_get_root_obj(tree.get())->cpuset, usable.get()));
  found.sockets = static_cast<int>(found.usable_cores.size());
  return found;
}

}  // namespace eflops::machine

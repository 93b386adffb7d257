#pragma once

#include "base/result.h"
#include "comm/communicator.h"
#include "comm/shared_memory/arena.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cohort::tool {

/// Where a rank of the bench sits.
struct BenchSeat {
  int rank = 0;
  int ranks = 1;
  std::string folder{};      ///< of this run, shared by all ranks of the host
  std::string rendezvous{};  ///< the same for all ranks of the run, and for nobody else
};

/// The kinds that `--kinds` takes for our own communicator: where the buffers live.
std::vector<std::string> bench_kinds();

/// Buffers of every kind, kept until one of another size is wanted: nobody measures fresh pages.
///
/// Threads: one.
/// Lifetime: the arena must outlive it.
class BenchMemory {
 public:
  explicit BenchMemory(Arena& arena) : arena_(arena) {}

  /// The buffer of that kind and name, with that many elements.
  /// Failure: kUnsupported for another kind than those of bench_kinds().
  Result<std::span<float>> get(const std::string& kind, const std::string& name, std::size_t elements);

 private:
  struct Buffer {
    ArenaBlock block{};
    std::vector<float> ordinary{};
    std::span<float> numbers{};
  };

  Result<Buffer> make(const std::string& kind, std::size_t elements);

  Arena& arena_;
  std::map<std::pair<std::string, std::string>, Buffer> buffers_;
};

/// What is measured, in the order in which it must outlive each other.
struct BenchCommunicator {
  std::unique_ptr<Arena> arena;
  std::unique_ptr<BenchMemory> memory;
  std::unique_ptr<Communicator> group;
};

/// Joins the other ranks.
Result<BenchCommunicator> make_bench_communicator(const BenchSeat& seat);

}  // namespace cohort::tool

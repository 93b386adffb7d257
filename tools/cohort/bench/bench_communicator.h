#pragma once

#include "base/result.h"
#include "comm/group/communicator.h"
#include "comm/shared_memory/arena.h"
#include "measure/contender.h"
#include "net/station.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cohort::tool {

/// The identity of a rank of the benchmark.
struct BenchSeat {
  int rank = 0;
  int ranks = 1;
  std::string folder{};      ///< of this run, shared by all ranks of the host
  std::string rendezvous{};  ///< the same for all ranks of the run, and different for other runs
};

/// The kinds of memory that `--kinds` accepts for our communicator.
std::vector<std::string> bench_kinds();

/// Buffers of every kind, reused until another size is needed, so that no measurement includes page faults.
///
/// Threads: one.
/// Lifetime: the arena must outlive the buffers.
class BenchMemory {
 public:
  explicit BenchMemory(Arena& arena) : arena_(arena) {}

  /// The buffer of that kind and name, with that many elements.
  /// Failure: kUnsupported for a kind that is not in bench_kinds().
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

/// The measured communicator and the objects that it needs, in order of lifetime.
struct BenchCommunicator {
  std::unique_ptr<Arena> arena;
  std::unique_ptr<BenchMemory> memory;
  std::unique_ptr<Communicator> group;
};

/// Joins the other ranks.
Result<BenchCommunicator> make_bench_communicator(const BenchSeat& seat);

/// Joins the other ranks over TCP although they are on the same host, as ranks of different hosts do.
Result<BenchCommunicator> make_tcp_communicator(const BenchSeat& seat, net::Secrecy secrecy);

/// Our own communicator under the measuring loop.
class CommunicatorContender final : public measure::Contender {
 public:
  explicit CommunicatorContender(BenchCommunicator bench) : bench_(std::move(bench)) {}

  Result<measure::Memory> allocate(const std::string& kind, const measure::BufferSizes& elements) override;
  Status align() override;
  Status perform(const measure::Turn& turn) override;

 private:
  Status ping_pong(const measure::Turn& turn);

  BenchCommunicator bench_;
};

}  // namespace cohort::tool

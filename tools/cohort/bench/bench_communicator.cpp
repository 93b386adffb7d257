#include "bench/bench_communicator.h"

#include "comm/shared_memory/communicator.h"

#include <fmt/format.h>

namespace cohort::tool {
namespace {

constexpr const char* kArena = "arena";
constexpr const char* kOrdinary = "ordinary";

}  // namespace

std::vector<std::string> bench_kinds() {
  return {kArena, kOrdinary};
}

Result<BenchMemory::Buffer> BenchMemory::make(const std::string& kind, std::size_t elements) {
  Buffer buffer;
  if (elements == 0) return buffer;
  if (kind == kArena) {
    COHORT_ASSIGN_OR_RETURN(buffer.block, arena_.allocate(elements * sizeof(float)));
    buffer.numbers = buffer.block.as<float>().first(elements);
    return buffer;
  }
  if (kind != kOrdinary && kind != "tcp" && kind != "tls")
    return Error(ErrorCode::kUnsupported, fmt::format("there is no memory of kind '{}'", kind));
  buffer.ordinary.resize(elements);
  buffer.numbers = buffer.ordinary;
  return buffer;
}

Result<std::span<float>> BenchMemory::get(const std::string& kind, const std::string& name,
                                          std::size_t elements) {
  Buffer& buffer = buffers_[{kind, name}];
  if (buffer.numbers.size() != elements) {
    buffer = {};  // given back first: both may not fit
    COHORT_ASSIGN_OR_RETURN(buffer, make(kind, elements));
  }
  return buffer.numbers;
}

Result<BenchCommunicator> make_bench_communicator(const BenchSeat& seat) {
  BenchCommunicator bench;
  COHORT_ASSIGN_OR_RETURN(bench.arena, Arena::create());
  bench.memory = std::make_unique<BenchMemory>(*bench.arena);
  const SharedMemoryOptions options{.rendezvous = seat.rendezvous,
                                    .facts = {.name = "bench", .rank = seat.rank, .world = seat.ranks}};
  COHORT_ASSIGN_OR_RETURN(bench.group, SharedMemoryCommunicator::meet(*bench.arena, options));
  return bench;
}

}  // namespace cohort::tool

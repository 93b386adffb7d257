#pragma once

#include "base/result.h"
#include "comm/communicator.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cohort::tool {

/// What a rank of the bench knows about its group.
struct BenchSeat {
  int rank = 0;
  int ranks = 1;
  std::string folder{};  ///< a folder of this run that all ranks of the host share
};

/// The communicator that is measured, and where its buffers come from.
struct BenchCommunicator {
  std::unique_ptr<Communicator> group;
  /// Memory of a kind (bench_kinds()) for that many elements, aligned to 64 bytes, replacing what was given
  /// before under the same name (`input`, `output`). Called with the same arguments on every rank, in the
  /// same order.
  std::function<Result<std::span<float>>(const std::string& kind, const std::string& name,
                                         std::size_t elements)>
      allocate;
};

/// The kinds that `--kinds` takes for our own communicator: where the buffers live.
std::vector<std::string> bench_kinds();

/// Joins the other ranks.
/// Failure: kUnsupported where there is no communicator between processes.
Result<BenchCommunicator> make_bench_communicator(const BenchSeat& seat);

}  // namespace cohort::tool

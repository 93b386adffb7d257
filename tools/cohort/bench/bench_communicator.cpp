#include "bench/bench_communicator.h"

namespace cohort::tool {

std::vector<std::string> bench_kinds() {
  return {"arena", "ordinary"};
}

Result<BenchCommunicator> make_bench_communicator(const BenchSeat&) {
  return Error(ErrorCode::kUnsupported, "there is no communicator between processes in this build")
      .with_remedy("Measure another kind: --kinds memcpy, openmpi or gloo.");
}

}  // namespace cohort::tool

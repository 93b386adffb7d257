#include "mpi/agree.h"

#include <thread>

namespace cohort::mpi {
namespace {

// What MPI may still need after the deadline.
struct Agreement {
  Agreement(const Flight::Place& place, std::int64_t mine)
      : number(place.rank == 0 ? mine : 0),
        call(all_reduce(std::span(&number, 1), ReduceOp::kMax)),
        flight(place, call) {}
  std::int64_t number;
  const Call call;
  Flight flight;
};

}  // namespace

Result<std::int64_t> agree(Library& library, const Flight::Place& place, std::int64_t number,
                           TimePoint deadline) {
  const auto agreement = std::make_shared<Agreement>(place, number);
  COHORT_RETURN_IF_ERROR(library.status(agreement->flight.begin(), "MPI does not begin"));
  while (true) {
    bool is_done = false;
    COHORT_RETURN_IF_ERROR(library.status(agreement->flight.test(is_done), "MPI does not end"));
    if (is_done) return agreement->number;
    if (std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::yield();
  }
  library.keep(agreement);
  return Error(ErrorCode::kTimedOut, "not all ranks have come to open the group")
      .with_remedy("Let all of them come, or give them more time.");
}

}  // namespace cohort::mpi

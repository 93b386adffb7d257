#pragma once

#include "base/clock.h"
#include "mpi/flight.h"

#include <cstdint>

namespace cohort::mpi {

/// The number of rank 0, on every rank of a communicator that was just made; it must not be negative. Nobody
/// gets it before all have come: a communicator that is revoked while one of its ranks still makes it ends
/// that process.
///
/// Failure: kTimedOut at the deadline.
Result<std::int64_t> agree(Library& library, const Flight::Place& place, std::int64_t number,
                           TimePoint deadline);

}  // namespace cohort::mpi

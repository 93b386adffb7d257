#pragma once

#include "comm/communicator.h"

#include <exception>

namespace cohort::train {

/// What the others hear of a rank's failure: kAborted, naming the rank, around its words.
Error failure_of(int rank, const std::exception& cause);

/// Ends the calls of all other ranks with what went wrong here, so that nobody waits for this one. They see
/// failure_of() this one; what is the failure of another rank already is known to all.
void abort_with(Communicator& group, const std::exception& cause);

/// Does something that all ranks do together; what it throws ends the others, too.
template <class Work>
void or_abort(Communicator& group, const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    abort_with(group, error);
    throw;
  }
}

}  // namespace cohort::train

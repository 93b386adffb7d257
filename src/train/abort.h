#pragma once

#include "comm/communicator.h"

#include <exception>

namespace cohort::train {

/// Ends the calls of all other ranks with what went wrong here, so that nobody waits for this one. They see kAborted,
/// naming this rank, around its words.
void abort_with(Communicator& group, const std::exception& cause);

}  // namespace cohort::train

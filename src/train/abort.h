#pragma once

#include "comm/group/communicator.h"

#include <exception>
#include <fmt/format.h>
#include <string>

namespace cohort::train {

/// The exception as an Error, or null.
inline const Error* as_error(const std::exception& cause) {
  return dynamic_cast<const Error*>(&cause);  // NOLINT: an exception has no other type tag
}

/// The error that the other ranks get when the rank of this global number fails: kAborted about that rank,
/// with the text of the cause.
inline Error failure_of(int rank, const std::exception& cause) {
  const Error* error = as_error(cause);
  const std::string words = error != nullptr ? error->text() : std::string(cause.what());
  return Error(ErrorCode::kAborted, fmt::format("rank {} failed: {}", rank, words)).with_rank(rank);
}

/// Ends the calls of all other ranks with failure_of() this rank, so that no rank waits for this one; if this
/// rank has noticed that a peer is lost or late, or was told of the failure of another rank, with that error:
/// the group in which it was told may not have all ranks. Does nothing for a divergence, which all ranks know
/// by the same vote. `group` is a Communicator, a Company or Lanes.
template <class Group>
void abort_with(Group& group, const std::exception& cause) {
  const Error* error = as_error(cause);
  if (error != nullptr && error->code() == ErrorCode::kDiverged) return;
  const ErrorCode root = error != nullptr ? error->root().code() : ErrorCode::kBug;
  const bool is_about_a_peer =
      root == ErrorCode::kPeerLost || root == ErrorCode::kTimedOut || root == ErrorCode::kAborted;
  group.abort(is_about_a_peer ? *error : failure_of(group.global_rank(group.rank()), cause));
}

/// Runs `work`, which all ranks run together. An exception ends the others, too.
template <class Group, class Work>
void or_abort(Group& group, const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    abort_with(group, error);
    throw;
  }
}

}  // namespace cohort::train

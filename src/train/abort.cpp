#include "train/abort.h"

#include <fmt/format.h>

namespace cohort::train {
namespace {

const Error* as_error(const std::exception& cause) {
  return dynamic_cast<const Error*>(&cause);  // NOLINT: what an exception is, only this can tell
}

}  // namespace

Error failure_of(int rank, const std::exception& cause) {
  const Error* error = as_error(cause);
  const std::string words = error != nullptr ? error->text() : std::string(cause.what());
  return {ErrorCode::kAborted, fmt::format("rank {} failed: {}", rank, words)};
}

void abort_with(Communicator& group, const std::exception& cause) {
  const Error* error = as_error(cause);
  if (error != nullptr && error->root().code() == ErrorCode::kAborted) return;
  group.abort(failure_of(group.rank(), cause));
}

}  // namespace cohort::train

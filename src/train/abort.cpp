#include "train/abort.h"

#include <fmt/format.h>

namespace cohort::train {

void abort_with(Communicator& group, const std::exception& cause) {
  const auto* error = dynamic_cast<const Error*>(&cause);  // NOLINT: what an exception is, only this can tell
  const std::string words = error != nullptr ? error->text() : std::string(cause.what());
  group.abort(Error(ErrorCode::kAborted, fmt::format("rank {} failed: {}", group.rank(), words)));
}

}  // namespace cohort::train

#include "mpi/library.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace cohort::mpi {
namespace {

constexpr int kTextBytes = 1024;

ErrorCode code_of(CohortMpiErrorKind kind) {
  switch (kind) {
    case kCohortMpiPeerLost:
      return ErrorCode::kPeerLost;
    case kCohortMpiRevoked:
      return ErrorCode::kAborted;
    case kCohortMpiTruncated:
      return ErrorCode::kUsage;
    default:
      return ErrorCode::kIo;
  }
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

Result<std::shared_ptr<Library>> Library::load(const LibraryOptions& options) {
  COHORT_ASSIGN_OR_RETURN(const CohortMpiShim* const shim, load_shim(options));
  std::shared_ptr<Library> library(new Library(*shim));
  COHORT_RETURN_IF_ERROR(library->start());
  return library;
}

Status Library::start() {
  int is_ours = 0;
  int is_threaded = 0;
  COHORT_RETURN_IF_ERROR(status(shim_.init(&is_ours, &is_threaded), "cannot start MPI (MPI_Init_thread)"));
  is_ours_ = is_ours != 0;
  std::array<char, kTextBytes> text{};
  shim_.library_text(text.data(), kTextBytes);
  text_ = first_line(text.data());
  if (is_threaded == 0) {
    return Error(ErrorCode::kUnsupported, fmt::format("{} does not support MPI_THREAD_MULTIPLE", text_))
        .with_remedy(
            "Initialize MPI with MPI_THREAD_MULTIPLE, or use an MPI that was built with thread support.");
  }
  can_recover_ = shim_.can_recover() != 0;
  shim_.rank(shim_.world(), &rank_);
  shim_.size(shim_.world(), &world_);
  COHORT_RETURN_IF_ERROR(status(shim_.tag_limit(&tag_limit_), "cannot read MPI_TAG_UB"));
  return status(shim_.duplicate(shim_.world(), &messages_),
                "cannot create a communicator for messages (MPI_Comm_dup)");
}

Error Library::error(int code, std::string_view what) const {
  std::array<char, kTextBytes> text{};
  shim_.error_text(code, text.data(), kTextBytes);
  return Error(code_of(shim_.error_kind(code)), fmt::format("{}: {}", what, first_line(text.data())));
}

Status Library::status(int code, std::string_view what) const {
  if (code == 0) return {};
  return error(code, what);
}

int Library::fresh_tag() {
  // Each number stands for two tags. After the largest tag, numbers repeat from the first: the transports
  // that used them have ended by then.
  const int numbers_of_each = std::max(1, tag_limit_ / 2 / world_ - 1);
  const int number = num_tags_.fetch_add(1) % numbers_of_each;
  return 2 * (number * world_ + rank_);
}

void Library::keep(std::shared_ptr<void> remains) {
  const std::lock_guard lock(mutex_);
  remains_.push_back(std::move(remains));
}

void Library::look_for_losses() {
  if (!can_recover_) return;
  std::vector<int> ranks(static_cast<std::size_t>(world_));
  int num_lost = 0;
  if (shim_.lost_ranks(messages_, ranks.data(), world_, &num_lost) != 0) return;
  ranks.resize(static_cast<std::size_t>(num_lost));
  std::sort(ranks.begin(), ranks.end());
  const std::lock_guard lock(mutex_);
  if (ranks == lost_) return;
  lost_ = std::move(ranks);
  num_looks_.fetch_add(1, std::memory_order_release);
}

std::vector<int> Library::lost_ranks() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

bool Library::has_lost_anybody() {
  look_for_losses();
  return !lost_ranks().empty();
}

// Messages to a rank that had already left are received and dropped, because MPI_Finalize would wait for
// them.
void Library::meet_for_the_last_time() {
  CohortMpiCollective meeting{};
  meeting.comm = messages_;
  meeting.operation = kCohortMpiBarrier;
  if (shim_.run(&meeting) == 0) shim_.drain(messages_);
}

Status Library::finish() {
  if (!has_lost_anybody()) meet_for_the_last_time();
  // After the loss of a rank, MPI_Finalize of Open MPI 5 may never return: open-mpi/ompi#11404. A launcher
  // that tolerates lost ranks also tolerates processes that end without MPI_Finalize.
  if (!is_ours_ || has_lost_anybody()) return {};
  return status(shim_.finalize(), "cannot end MPI (MPI_Finalize)");
}

}  // namespace cohort::mpi

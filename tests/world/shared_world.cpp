#include "world/shared_world.h"

#include "base/units.h"

#include <fmt/format.h>
#include <utility>

namespace cohort::test {
namespace {

// A copy of the chain of causes with code kAborted on every level.
Error aborted_by(const Error& error) {
  if (error.cause() == nullptr) return Error(ErrorCode::kAborted, error.message(), error.location());
  return aborted_by(*error.cause()).within(error.message(), error.location());
}

}  // namespace

std::string ranks_text(std::span<const int> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

Error WorldFailure::as_abort() const {
  Error aborted = aborted_by(error);
  aborted = aborted.within(hung ? "the world was aborted" : ranks_text(ranks) + " failed");
  return error.remedy().empty() ? aborted : aborted.with_remedy(error.remedy());
}

SharedWorld::SharedWorld(int size, std::chrono::nanoseconds limit)
    : size_(size),
      limit_(limit),
      deadline_(deadline_after(clock_.now(), limit)),
      own_(static_cast<std::size_t>(size)) {}

Status SharedWorld::barrier() {
  std::unique_lock lock(mutex_);
  const std::uint64_t mine = num_passed_;
  ++num_waiting_;
  const auto passed = [&] { return num_passed_ != mine; };
  const auto cannot_pass = [&] { return failure_ || !returned_locked().empty(); };
  if (num_waiting_ == size_ && !failure_) {
    num_waiting_ = 0;
    ++num_passed_;
    changed_.notify_all();
    return {};
  }
  changed_.wait(lock, [&] { return passed() || cannot_pass(); });
  if (passed()) return {};
  --num_waiting_;  // a rank that leaves with an error does not count for the next barrier
  if (failure_) return failure_->as_abort();
  return Error(ErrorCode::kBug,
               fmt::format("{} returned without entering the barrier that other ranks wait in",
                           ranks_text(returned_locked())));
}

Status SharedWorld::wait_for(const std::function<bool()>& predicate) {
  std::unique_lock lock(mutex_);
  while (!failure_) {
    if (predicate()) return {};
    changed_.wait_for(lock, std::chrono::milliseconds(1));
  }
  return failure_->as_abort();
}

void SharedWorld::change(const std::function<void()>& update) {
  {
    const std::lock_guard lock(mutex_);
    update();
  }
  changed_.notify_all();
}

void SharedWorld::has_returned(int rank, Status own) {
  {
    const std::lock_guard lock(mutex_);
    if (!own && !failure_) failure_ = WorldFailure{own.error(), {rank}};
    own_[static_cast<std::size_t>(rank)] = std::move(own);
  }
  changed_.notify_all();
}

void SharedWorld::run_to_the_end() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline_, [this] { return failure_ || running_locked().empty(); });
    const std::vector<int> running = running_locked();
    if (!failure_ && !running.empty()) {
      const std::string words =
          fmt::format("{} did not return within {}", ranks_text(running), format_duration(limit_));
      failure_ = WorldFailure{Error(ErrorCode::kTimedOut, words), running, true};
    }
  }
  changed_.notify_all();
  if (failure()) stop_.request_stop();
}

bool SharedWorld::all_return_by(TimePoint deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [this] { return running_locked().empty(); });
}

std::optional<WorldFailure> SharedWorld::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::vector<std::optional<Status>> SharedWorld::own() const {
  const std::lock_guard lock(mutex_);
  return own_;
}

std::vector<int> SharedWorld::running() const {
  const std::lock_guard lock(mutex_);
  return running_locked();
}

std::vector<int> SharedWorld::running_locked() const {
  return ranks_where([](const auto& own) { return !own.has_value(); });
}

std::vector<int> SharedWorld::returned_locked() const {
  return ranks_where([](const auto& own) { return own.has_value(); });
}

std::vector<int> SharedWorld::ranks_where(bool (*wanted)(const std::optional<Status>&)) const {
  std::vector<int> ranks;
  for (int rank = 0; rank < size_; ++rank) {
    if (wanted(own_[static_cast<std::size_t>(rank)])) ranks.push_back(rank);
  }
  return ranks;
}

}  // namespace cohort::test

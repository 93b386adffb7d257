#include "world/world.h"

#include "base/check.h"
#include "base/units.h"
#include "world/shared_world.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <system_error>

namespace cohort::test {
namespace {

constexpr int kExitOfABug = 70;

Status run_body(const RankBody& body, RankContext& context) {
  try {
    return body(context);
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& failure) {
    return Error(ErrorCode::kBug, fmt::format("the body of the rank threw: {}", failure.what()));
  } catch (...) {
    return Error(ErrorCode::kBug, "the body of the rank threw something that is not a std::exception");
  }
}

std::vector<std::thread> start_ranks(const std::shared_ptr<SharedWorld>& shared, const RankBody& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < shared->size(); ++rank) {
    try {
      threads.emplace_back([shared, body, rank] {
        RankContext context(*shared, rank);
        shared->has_returned(rank, run_body(body, context));
      });
    } catch (const std::system_error& failure) {
      shared->has_returned(rank,
                           Error(ErrorCode::kExhausted,
                                 fmt::format("cannot start the thread of the rank: {}", failure.what())));
    }
  }
  return threads;
}

bool contains(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

Status status_of(int rank, const WorldFailure& failure) {
  return contains(failure.ranks, rank) ? failure.error : failure.as_abort();
}

}  // namespace

RankContext::RankContext(SharedWorld& shared, int rank) : shared_(shared), rank_(rank) {}

RankContext::RankContext(const RankContext& own, AmongProcesses processes)
    : shared_(own.shared_), rank_(processes.rank), processes_(std::move(processes)) {}

void RankContext::say(const std::string& text) const {
  shared_.sink().write({.time = shared_.clock().wall(), .rank = rank_, .text = text});
}

int RankContext::size() const {
  return processes_ ? processes_->world : shared_.size();
}

std::stop_token RankContext::stop_token() const {
  return shared_.stop_token();
}

TimePoint RankContext::deadline() const {
  return shared_.deadline();
}

Clock& RankContext::clock() const {
  return shared_.clock();
}

Status RankContext::barrier() {
  if (processes_) return processes_->barrier(deadline());
  return shared_.barrier();
}

Status RankContext::wait_for(const std::function<bool()>& predicate) {
  return shared_.wait_for(predicate);
}

void RankContext::change(const std::function<void()>& update) {
  shared_.change(update);
}

WorldOutcome::WorldOutcome(std::shared_ptr<SharedWorld> shared, std::vector<std::thread> threads,
                           std::chrono::nanoseconds grace)
    : own(shared->own()),
      log(shared->sink().lines()),
      shared_(std::move(shared)),
      threads_(std::move(threads)),
      grace_(grace) {
  rank.resize(own.size());
  for (int i = 0; i < shared_->size(); ++i) {
    if (!own[static_cast<std::size_t>(i)]) not_returned.push_back(i);
  }
  const auto failure = shared_->failure();
  if (!failure) return;
  cause = failure->error;
  if (!failure->hung) first_failed = failure->ranks.front();
  for (int i = 0; i < shared_->size(); ++i) {
    Status status = status_of(i, *failure);
    if (contains(not_returned, i)) {
      status = std::move(status).within(
          fmt::format("rank {} still runs {} after the stop", i, format_duration(grace)));
    }
    rank[static_cast<std::size_t>(i)] = std::move(status);
  }
}

WorldOutcome::~WorldOutcome() {
  if (!shared_) return;
  if (!shared_->all_return_by(std::chrono::steady_clock::now() + grace_)) {
    fmt::print(stderr,
               "run_world: {} did not return, and a thread cannot be killed: the process exits with code {}. "
               "Every wait of a rank must end with RankContext::stop_token().\n",
               ranks_text(shared_->running()), kExitOfABug);
    std::_Exit(kExitOfABug);
  }
  for (std::thread& thread : threads_) thread.join();
}

std::string WorldOutcome::text() const {
  std::string text;
  for (std::size_t i = 0; i < rank.size(); ++i) {
    text += fmt::format("rank {}: {}\n", i, rank[i] ? "ok" : rank[i].error().what());
    const bool differs = own[i] && !*own[i] && first_failed != static_cast<int>(i);
    if (differs) text += fmt::format("        its own error: {}\n", own[i]->error().what());
  }
  for (const std::string& line : log) text += line + '\n';
  return text;
}

WorldOutcome run_world(int n, const RankBody& body, WorldOptions options) {
  COHORT_CHECK_GE(n, 1, "a world has at least one rank");
  const auto shared = std::make_shared<SharedWorld>(n, options.deadline);
  std::vector<std::thread> threads = start_ranks(shared, body);
  shared->run_to_the_end();
  shared->all_return_by(std::chrono::steady_clock::now() + options.grace);
  return WorldOutcome(shared, std::move(threads), options.grace);
}

}  // namespace cohort::test

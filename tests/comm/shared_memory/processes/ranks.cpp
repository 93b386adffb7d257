#include "comm/shared_memory/processes/ranks.h"

#include <atomic>
#include <ctime>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

TimePoint soon() {
  return std::chrono::steady_clock::now() + 30s;
}

}  // namespace

Ranks::Ranks(const RankSettings& settings) {
  for (int rank = 0; rank < settings.world; ++rank) {
    processes_.push_back(spawn_role(
        "rank", {.rank = rank,
                 .world = settings.world,
                 .args = {settings.rendezvous, std::to_string(settings.liveness.count()),
                          std::to_string(settings.meeting_limit.count()), settings.task, settings.detail}}));
  }
}

void Ranks::wait_for_line(int rank, const std::string& line) {
  const TimePoint deadline = soon();
  while (said_by(rank).find(line + "\n") == std::string::npos) {
    if (value_or_throw((*this)[rank].poll()) || std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error(fmt::format("rank {} never said '{}': {}", rank, line, said_by(rank)));
    }
    std::this_thread::sleep_for(1ms);
  }
}

ExitStatus Ranks::wait(int rank) {
  return value_or_throw((*this)[rank].wait(soon()).within("waiting for " + said_by(rank)));
}

std::string Ranks::said_by(int rank) {
  return (*this)[rank].output().text + (*this)[rank].error_output().text;
}

std::string fresh_rendezvous() {
  static std::atomic<int> number{0};
  return fmt::format("cohort-processes-{}-{}", ::getpid(), number.fetch_add(1));
}

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

std::int64_t number_in(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key + "=");
  if (at == std::string::npos) throw std::runtime_error(fmt::format("no {}= in: {}", key, text));
  return std::stoll(text.substr(at + key.size() + 1));
}

}  // namespace cohort::test

#pragma once

#include "supervise/rank_output.h"

#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace cohort::tool {

/// Passes the lines that ranks write to standard output to a function; standard error is ignored here.
///
/// Threads: as RankOutput; the function is called by one thread at a time.
class LineOutput final : public supervise::RankOutput {
 public:
  using Take = std::function<void(int rank, const std::string& line)>;

  explicit LineOutput(Take take) : take_(std::move(take)) {}

  Status take(int rank, supervise::Stream stream, std::string_view piece) override {
    if (stream != supervise::Stream::kOutput) return {};
    const std::lock_guard lock(mutex_);
    std::string& begun = begun_[rank];
    begun += piece;
    for (auto end = begun.find('\n'); end != std::string::npos; end = begun.find('\n')) {
      take_(rank, begun.substr(0, end));
      begun.erase(0, end + 1);
    }
    return {};
  }
  Status finish(int) override { return {}; }
  void give_up() override {}

 private:
  const Take take_;
  std::mutex mutex_;
  std::map<int, std::string> begun_;
};

}  // namespace cohort::tool

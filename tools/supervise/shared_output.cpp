#include "supervise/rank_output.h"

#include "base/check.h"
#include "supervise/lines.h"

#include <mutex>
#include <utility>

namespace cohort::supervise {
namespace {

// One of the two streams that all ranks share.
class SharedStream {
 public:
  SharedStream(Writer writer, const std::vector<std::string>& prefixes, std::optional<int> live_rank)
      : writer_(std::move(writer)), live_rank_(live_rank), live_(std::make_unique<Live>()) {
    for (const std::string& prefix : prefixes) cutters_.emplace_back(prefix);
  }

  Status take(int rank, std::string_view piece) {
    if (cutters_.empty()) return writer_.write(piece);
    if (rank == live_rank_) return write_live(piece);
    return write_lines(cutter(rank).add(piece));
  }
  Status finish(int rank) {
    if (cutters_.empty() || rank == live_rank_) return {};
    return write_lines(cutter(rank).finish());
  }
  void give_up() { writer_.give_up(); }

 private:
  // Whether the live rank has an unfinished line; the mutex is held during every write.
  struct Live {
    std::mutex mutex{};
    bool has_begun_a_line = false;
  };

  Status write_live(std::string_view piece) {
    if (piece.empty()) return {};
    const std::lock_guard lock(live_->mutex);
    live_->has_begun_a_line = piece.back() != '\n';
    return writer_.write(piece);
  }
  Status write_lines(const std::string& lines) {
    if (lines.empty()) return {};
    const std::lock_guard lock(live_->mutex);
    const bool ends_a_line = std::exchange(live_->has_begun_a_line, false);
    return writer_.write(ends_a_line ? '\n' + lines : lines);
  }

  LineCutter& cutter(int rank) {
    COHORT_CHECK_LT(static_cast<std::size_t>(rank), cutters_.size());
    return cutters_[static_cast<std::size_t>(rank)];
  }

  Writer writer_;
  std::vector<LineCutter> cutters_;  // indexed by rank; each is used by the thread of its rank only
  std::optional<int> live_rank_;
  std::unique_ptr<Live> live_;
};

class SharedOutput final : public RankOutput {
 public:
  SharedOutput(SharedStream output, SharedStream error_output)
      : output_(std::move(output)), error_output_(std::move(error_output)) {}

  Status take(int rank, Stream stream, std::string_view piece) override {
    return (stream == Stream::kOutput ? output_ : error_output_).take(rank, piece);
  }
  Status finish(int rank) override {
    const Status output = output_.finish(rank);
    const Status error_output = error_output_.finish(rank);
    return output ? error_output : output;
  }
  void give_up() override {
    output_.give_up();
    error_output_.give_up();
  }

 private:
  SharedStream output_;
  SharedStream error_output_;
};

}  // namespace

std::unique_ptr<RankOutput> make_shared_output(Writer output, Writer error_output,
                                               const SharedOutputOptions& options) {
  return std::make_unique<SharedOutput>(
      SharedStream(std::move(output), options.output_prefixes, options.live_rank),
      SharedStream(std::move(error_output), options.error_output_prefixes, options.live_rank));
}

}  // namespace cohort::supervise

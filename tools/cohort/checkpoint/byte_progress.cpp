#include "checkpoint/byte_progress.h"

#include "base/units.h"
#include "observe/amounts.h"

#include <algorithm>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

constexpr std::chrono::milliseconds kRewriteEvery{100};

}  // namespace

void ByteProgress::add(std::uint64_t bytes) {
  done_bytes_ += bytes;
  const TimePoint now = clock_.now();
  if (now - written_at_ < kRewriteEvery) return;
  written_at_ = now;
  const double share =
      static_cast<double>(done_bytes_) / static_cast<double>(std::max<std::uint64_t>(total_bytes_, 1));
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  line_.say(fmt::format("{}: {} of {}, {}, {} left", action_, format_bytes(done_bytes_),
                        format_bytes(total_bytes_), observe::format_share(share),
                        observe::format_time_left(seconds / share - seconds)));
}

}  // namespace cohort::tool

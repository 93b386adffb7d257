#include "supervise/rank_output.h"

#include "base/descriptor.h"

#include <array>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cohort::test {
namespace {

using supervise::Stream;
using supervise::Writer;

// An output whose two streams go into one pipe, and the bytes read from the pipe.
class Piped {
 public:
  explicit Piped(const supervise::SharedOutputOptions& options) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    reading_ = Descriptor(ends[0]);
    writing_ = Descriptor(ends[1]);
    output = supervise::make_shared_output(Writer::make(writing_.number(), "out").value(),
                                           Writer::make(writing_.number(), "err").value(), options);
  }

  // Writes as rank `rank`.
  void write(int rank, std::string_view text) { EXPECT_TRUE(output->take(rank, Stream::kOutput, text)); }
  // Closes the writing end and returns all bytes.
  std::string read() {
    writing_.close();
    std::string text(1 << 12, '\0');
    const ssize_t count = ::read(reading_.number(), text.data(), text.size());
    return text.substr(0, static_cast<std::size_t>(count));
  }

  std::unique_ptr<supervise::RankOutput> output;

 private:
  Descriptor reading_;
  Descriptor writing_;
};

TEST(SharedOutput, ALiveRankPassesAsItComes) {
  Piped piped({.output_prefixes = {"", "[1] "}, .error_output_prefixes = {"", "[1] "}, .live_rank = 0});
  piped.write(0, "\rstep 1");
  piped.write(0, "\rstep 2");
  piped.write(0, "");
  EXPECT_EQ(piped.read(), "\rstep 1\rstep 2");
}

TEST(SharedOutput, ALineOfAnotherRankDoesNotStandBehindTheLiveOnes) {
  Piped piped({.output_prefixes = {"", "[1] "}, .error_output_prefixes = {"", "[1] "}, .live_rank = 0});
  piped.write(0, "\rstep 1");
  piped.write(1, "hel");
  piped.write(1, "lo\n");
  piped.write(1, "again\n");
  piped.write(0, "\rstep 2\n");
  piped.write(1, "last");
  EXPECT_TRUE(piped.output->finish(1));
  EXPECT_TRUE(piped.output->finish(0));
  EXPECT_EQ(piped.read(), "\rstep 1\n[1] hello\n[1] again\n\rstep 2\n[1] last\n");
}

TEST(SharedOutput, WithoutALiveRankAllLinesAreWhole) {
  Piped piped({.output_prefixes = {"", "[1] "}, .error_output_prefixes = {"", "[1] "}});
  piped.write(0, "be");
  piped.write(1, "one\n");
  piped.write(0, "gun\n");
  EXPECT_EQ(piped.read(), "[1] one\nbegun\n");
}

}  // namespace
}  // namespace cohort::test

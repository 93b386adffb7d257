#include "supervise/lines.h"

#include <gtest/gtest.h>

namespace cohort::test {
namespace {

using supervise::LastLines;
using supervise::LineCutter;
using Lines = std::deque<std::string>;

std::string cut(std::string_view text, std::size_t piece_bytes, std::size_t longest = 1 << 20) {
  LineCutter cutter("> ", longest);
  std::string lines;
  for (std::size_t at = 0; at < text.size(); at += piece_bytes) {
    const std::string more = cutter.add(text.substr(at, piece_bytes));
    EXPECT_TRUE(more.empty() || more.back() == '\n') << "only whole lines";
    lines += more;
  }
  return lines + cutter.finish();
}

TEST(LineCutter, GivesTheSameHoweverTheBytesCome) {
  const std::string text("one\n\nthree\0\xff\r\n \nlast", 20);
  const std::string expected("> one\n> \n> three\0\xff\r\n>  \n> last\n", 31);
  for (std::size_t piece_bytes = 1; piece_bytes <= text.size(); ++piece_bytes) {
    EXPECT_EQ(cut(text, piece_bytes), expected) << "in pieces of " << piece_bytes;
  }
}

TEST(LineCutter, BreaksALineThatIsTooLong) {
  for (const std::size_t piece_bytes : {1u, 2u, 3u, 4u, 7u, 100u}) {
    EXPECT_EQ(cut("abcdefgh\nijk\n", piece_bytes, 3), "> abc\n> def\n> gh\n> ijk\n") << piece_bytes;
    EXPECT_EQ(cut("abcdef", piece_bytes, 3), "> abc\n> def\n") << piece_bytes;
  }
}

TEST(LineCutter, FinishesOnce) {
  LineCutter cutter("> ");
  EXPECT_EQ(cutter.add("x"), "");
  EXPECT_EQ(cutter.finish(), "> x\n");
  EXPECT_EQ(cutter.finish(), "");
}

TEST(LastLines, OfALineThatIsWrittenOverTheLastIsKept) {
  for (std::size_t piece_bytes = 1; piece_bytes < 20; ++piece_bytes) {
    LastLines last(3, 6);
    const std::string_view text = "\rstep 1\rstep 22\rstep 3\nerror\r\n\r\n";
    for (std::size_t at = 0; at < text.size(); at += piece_bytes) last.add(text.substr(at, piece_bytes));
    EXPECT_EQ(last.lines(), (Lines{"step 3", "error", ""})) << piece_bytes;
  }
}

TEST(LastLines, AreTheLastOnes) {
  for (const std::size_t piece_bytes : {1u, 2u, 3u, 5u, 100u}) {
    LastLines last(3, 4);
    const std::string_view text = "1\n2\n\n4444444\n5";
    for (std::size_t at = 0; at < text.size(); at += piece_bytes) last.add(text.substr(at, piece_bytes));
    EXPECT_EQ(last.lines(), (Lines{"", "4444", "5"})) << piece_bytes;
  }
  LastLines none;
  none.add("");
  EXPECT_EQ(none.lines(), Lines{});
  none.add("\n");
  EXPECT_EQ(none.lines(), Lines{""});
}

}  // namespace
}  // namespace cohort::test

// Long messages that come before a receive is waiting for them.

#include "net/tcp_network.h"

#include <gtest/gtest.h>
#include <thread>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;
using comm::FrameHeader;

/// Answers is_expected() with false for the first `num_denials` calls, then with true.
class LateSink final : public comm::FrameSink {
 public:
  explicit LateSink(int num_denials) : num_denials_(num_denials) {}

  bool is_expected(int, const FrameHeader&) override { return ++num_questions > num_denials_; }
  std::span<std::byte> buffer_for(int, const FrameHeader& header) override {
    if (num_arrived == 0 && questions_before_place == 0) questions_before_place = num_questions;
    room.resize(header.size_bytes);
    return room;
  }
  void arrived(int, const FrameHeader&) override { ++num_arrived; }
  void withdrawn(int, const FrameHeader&) override {}
  void lost(int, const Error&) override { is_lost = true; }

  int num_questions = 0;
  int questions_before_place = 0;
  int num_arrived = 0;
  bool is_lost = false;
  std::vector<std::byte> room;

 private:
  const int num_denials_;
};

/// Sends one message of this size to the sink.
void exchange(LateSink& sink, std::size_t size_bytes) {
  TcpNetwork network(2, {.secrecy = net::Secrecy::kClear});
  const auto sender = network.take(0);
  const auto receiver = network.take(1);
  comm::LocalDoorbell bell;
  LateSink nobody(0);
  sender->open(nobody, bell);
  receiver->open(sink, bell);
  std::vector<std::byte> payload(size_bytes, std::byte{5});
  sender->send(1, {.sequence = 1, .size_bytes = size_bytes}, payload, [](const Status&) {});
  const TimePoint until = std::chrono::steady_clock::now() + 10s;
  while (sink.num_arrived == 0 && std::chrono::steady_clock::now() < until) {
    if (!sender->advance() && !receiver->advance()) std::this_thread::sleep_for(50us);
  }
  EXPECT_EQ(sink.num_arrived, 1);
  EXPECT_FALSE(sink.is_lost);
  EXPECT_EQ(sink.room, payload);
  receiver->close();
  sender->close();
}

TEST(EarlyMessage, WaitsAMomentForWhoWantsIt) {
  LateSink sink(3);
  exchange(sink, 200'000);
  EXPECT_GT(sink.questions_before_place, 1);
  EXPECT_LE(sink.questions_before_place, 4) << "may be fewer on a busy machine";
}

TEST(EarlyMessage, DoesNotWaitForEver) {
  LateSink sink(1'000'000'000);
  exchange(sink, 200'000);
  EXPECT_GT(sink.questions_before_place, 1);
}

TEST(EarlyMessage, AShortOneIsCopiedAtOnce) {
  LateSink sink(1'000'000'000);
  exchange(sink, 1000);
  EXPECT_EQ(sink.num_questions, 0);
}

}  // namespace
}  // namespace cohort::test

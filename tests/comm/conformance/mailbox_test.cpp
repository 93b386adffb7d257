#include "comm/conformance/kind.h"

#include <cstring>

namespace cohort::test {
namespace {

class Mailboxes : public Conformance {};
COHORT_FOR_ALL_KINDS(Mailboxes);

constexpr std::uint32_t kDouble = 7;

Bytes bytes_of(std::int64_t value) {
  Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::int64_t value_in(std::span<const std::byte> bytes) {
  std::int64_t value = 0;
  if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

TEST_P(Mailboxes, AnswerRequestsOfEveryMember) {
  if (GetParam().time != KindTime::kReal)
    GTEST_SKIP() << "virtual time does not wait for threads of handlers";
  run(3, [](Seat& seat) -> Status {
    const std::unique_ptr<Mailbox> mailbox = seat->open_mailbox();
    mailbox->serve(kDouble, [](int from, std::span<const std::byte> request) -> Result<Bytes> {
      return bytes_of(2 * value_in(request) + from);
    });
    COHORT_RETURN_IF_ERROR(seat->run(barrier()));
    for (int to = 0; to < seat.world(); ++to) {
      const TimePoint deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      COHORT_ASSIGN_OR_RETURN(const Bytes reply, mailbox->call(to, kDouble, bytes_of(100 + to), deadline));
      const std::int64_t expected = 2 * (100 + to) + seat.index();
      if (value_in(reply) != expected) return unexpected(seat, "{} instead of {}", value_in(reply), expected);
    }
    return seat->run(barrier());
  });
}

}  // namespace
}  // namespace cohort::test

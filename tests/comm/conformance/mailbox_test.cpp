#include "comm/conformance/kind.h"
#include "comm/number_bytes.h"

#include <mutex>

namespace cohort::test {
namespace {

class Mailboxes : public Conformance {};
COHORT_FOR_ALL_KINDS(Mailboxes);

constexpr std::uint32_t kDouble = 7;
constexpr std::uint32_t kEcho = 8;
constexpr std::uint32_t kRefuse = 9;
constexpr std::uint32_t kNobody = 10;

TimePoint soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(15);
}

/// A mailbox with a handler, returned once the mailboxes of all ranks have theirs.
Result<std::unique_ptr<Mailbox>> open_served(Seat& seat) {
  std::unique_ptr<Mailbox> mailbox = seat->open_mailbox();
  mailbox->serve(kDouble, [](int from, std::span<const std::byte> request) -> Result<Bytes> {
    return bytes_of(2 * value_of(request) + static_cast<std::uint64_t>(from));
  });
  mailbox->serve(kEcho, [](int, std::span<const std::byte> request) -> Result<Bytes> {
    return Bytes(request.begin(), request.end());
  });
  mailbox->serve(kRefuse, [](int, std::span<const std::byte>) -> Result<Bytes> {
    return Error(ErrorCode::kStale, "not today");
  });
  COHORT_RETURN_IF_ERROR(seat->run(barrier()));
  return mailbox;
}

TEST_P(Mailboxes, AnswerRequestsOfEveryMember) {
  run(3, [](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<Mailbox> mailbox, open_served(seat));
    for (std::uint64_t to = 0; to < static_cast<std::uint64_t>(seat.size()); ++to) {
      COHORT_ASSIGN_OR_RETURN(const Bytes reply,
                              mailbox->call(static_cast<int>(to), kDouble, bytes_of(100 + to), soon()));
      const std::uint64_t expected = 2 * (100 + to) + static_cast<std::uint64_t>(seat.index());
      if (value_of(reply) != expected) return unexpected(seat, "{} instead of {}", value_of(reply), expected);
    }
    return seat->run(barrier());
  });
}

TEST_P(Mailboxes, CarryRequestsOfAnySize) {
  run(2, [](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<Mailbox> mailbox, open_served(seat));
    for (const std::size_t size : {0u, 1u, 4095u, 300001u}) {
      Bytes request(size);
      for (std::size_t i = 0; i < size; ++i) request[i] = static_cast<std::byte>(i * 7 + size);
      COHORT_ASSIGN_OR_RETURN(const Bytes reply, mailbox->call(1 - seat.index(), kEcho, request, soon()));
      if (reply != request) return unexpected(seat, "{} bytes came back changed", size);
    }
    return seat->run(barrier());
  });
}

TEST_P(Mailboxes, MatchManyRepliesInFlight) {
  run(2, [](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<Mailbox> mailbox, open_served(seat));
    constexpr std::uint64_t kMany = 40;
    std::mutex mutex;
    std::vector<std::uint64_t> replies(kMany, 0);
    std::size_t num_done = 0;
    for (std::uint64_t i = 0; i < kMany; ++i) {
      mailbox->start(1 - seat.index(), kDouble, bytes_of(i), soon(), [&, i](const Result<Bytes>& reply) {
        const std::lock_guard lock(mutex);
        if (reply) replies[i] = value_of(*reply);
        ++num_done;
      });
    }
    COHORT_RETURN_IF_ERROR(seat.rank.wait_for([&] {
      const std::lock_guard lock(mutex);
      return num_done == kMany;
    }));
    for (std::uint64_t i = 0; i < kMany; ++i) {
      const std::uint64_t expected = 2 * i + static_cast<std::uint64_t>(seat.index());
      if (replies[i] != expected) return unexpected(seat, "{} instead of {}", replies[i], expected);
    }
    return seat->run(barrier());
  });
}

TEST_P(Mailboxes, SayWhyThereIsNoReply) {
  run(2, [](Seat& seat) -> Status {
    COHORT_ASSIGN_OR_RETURN(const std::unique_ptr<Mailbox> mailbox, open_served(seat));
    const Result<Bytes> refused = mailbox->call(1 - seat.index(), kRefuse, {}, soon());
    if (refused || refused.error().code() != ErrorCode::kStale)
      return unexpected(seat, "the refused request succeeded, or failed with another code");
    if (refused.error().text().find("not today") == std::string::npos) {
      return unexpected(seat, "the message of the handler is not in: {}", refused.error().text());
    }
    const Result<Bytes> nobody = mailbox->call(1 - seat.index(), kNobody, {}, soon());
    if (nobody || nobody.error().code() != ErrorCode::kNotFound)
      return unexpected(seat, "a request without a handler succeeded");
    return seat->run(barrier());
  });
}

}  // namespace
}  // namespace cohort::test

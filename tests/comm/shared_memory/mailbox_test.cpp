#include "comm/exchange/exchange_mailbox.h"
#include "comm/exchange_member.h"
#include "comm/shared_memory/messages.h"
#include "comm/shared_memory/ring.h"
#include "world/world.h"

#include <atomic>
#include <gtest/gtest.h>
#include <unistd.h>

namespace cohort::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kEcho = 1;

TimePoint soon() {
  return std::chrono::steady_clock::now() + 15s;
}

/// One rank: its arena, its neighbours, and a mailbox that echoes requests.
struct House {
  House(const std::string& name, const RankContext& rank)
      : arena(value_or_throw(Arena::create(std::size_t{64} << 20))),
        neighbours(value_or_throw(comm::Neighbours::meet(
            *arena, {.rendezvous = name, .facts = {.rank = rank.rank(), .world = rank.size()}}))),
        messages(neighbours),
        mailbox(comm::make_mailbox(messages.exchange(), messages.progress(), {})) {
    mailbox->serve(kEcho, [](int, std::span<const std::byte> request) -> Result<Bytes> {
      return Bytes(request.begin(), request.end());
    });
  }
  Mailbox* operator->() { return mailbox.get(); }

  std::unique_ptr<Arena> arena;
  std::shared_ptr<comm::Neighbours> neighbours;
  comm::OwnHostMessages messages;
  std::unique_ptr<Mailbox> mailbox;
};

std::string fresh_name() {
  static std::atomic<int> number{0};
  return fmt::format("cohort-mailbox-{}-{}", ::getpid(), number.fetch_add(1));
}

TEST(MailboxInSharedMemory, RequestsOfAnySizeComeBack) {
  for (const int world : {1, 2, 3}) {
    const std::string name = fresh_name();
    const auto outcome = run_world(world, [&](RankContext& rank) -> Status {
      House house(name, rank);
      COHORT_RETURN_IF_ERROR(rank.barrier());  // all ranks serve requests from here on
      for (const std::size_t size : {std::size_t{0}, std::size_t{1}, comm::Ring::kBytes - 1,
                                     comm::Ring::kBytes, (std::size_t{1} << 20) + 3}) {
        for (int to = 0; to < world; ++to) {
          const Bytes request = pattern(size, static_cast<std::uint64_t>(to * 10 + rank.rank()));
          COHORT_ASSIGN_OR_RETURN(const Bytes reply, house->call(to, kEcho, request, soon()));
          if (reply != request)
            return rank.failure("a reply of {} bytes from rank {} differs from its request", size, to);
        }
      }
      return rank.barrier();
    });
    EXPECT_WORLD_OK(outcome);
  }
}

TEST(MailboxInSharedMemory, CallsToAMemberThatLeavesEnd) {
  const std::string name = fresh_name();
  const auto outcome = run_world(2, [&](RankContext& rank) -> Status {
    auto house = std::make_unique<House>(name, rank);
    COHORT_RETURN_IF_ERROR(rank.barrier());
    if (rank.rank() == 1) {
      house.reset();
      return rank.barrier();
    }
    COHORT_RETURN_IF_ERROR(rank.barrier());
    const Result<Bytes> reply = (*house)->call(1, kEcho, pattern(1000, 1), soon());
    if (reply || reply.error().code() != ErrorCode::kPeerLost)
      return rank.failure("expected kPeerLost, found {}",
                          reply ? std::string("a reply") : reply.error().text());
    return {};
  });
  EXPECT_WORLD_OK(outcome);
}

}  // namespace
}  // namespace cohort::test

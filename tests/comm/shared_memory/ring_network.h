#pragma once

#include "comm/shared_memory/transport.h"

#include <atomic>
#include <fmt/format.h>
#include <memory>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cohort::test {

/// Members of one host, all in this process, each with an arena of its own and connected to all others.
///
/// Lifetime: must outlive its transports and doorbells.
class RingNetwork {
 public:
  explicit RingNetwork(int num_members) : members_(static_cast<std::size_t>(num_members)) {
    static std::atomic<int> num_networks{0};
    const std::string name = fmt::format("cohort-rings-{}-{}", ::getpid(), num_networks.fetch_add(1));
    std::vector<std::jthread> threads;
    for (int member = 0; member < num_members; ++member) {
      Member& mine = members_[static_cast<std::size_t>(member)];
      mine.arena = value_or_throw(Arena::create(std::size_t{64} << 20));
      threads.emplace_back([name, member, num_members, &mine] {
        const SharedMemoryOptions options{.rendezvous = name,
                                          .facts = {.rank = member, .world = num_members}};
        mine.neighbours = comm::Neighbours::meet(*mine.arena, options);
      });
    }
    threads.clear();
    for (Member& member : members_)
      value_or_throw(Status(member.neighbours ? Status() : member.neighbours.error()));
  }

  std::unique_ptr<comm::Transport> take(int member) {
    return std::make_unique<comm::SharedMemoryTransport>(*neighbours(member));
  }
  std::unique_ptr<comm::Doorbell> make_doorbell(int member) {
    return std::make_unique<comm::ArenaDoorbell>(members_[static_cast<std::size_t>(member)].arena->header());
  }

 private:
  struct Member {
    std::unique_ptr<Arena> arena{};
    Result<std::unique_ptr<comm::Neighbours>> neighbours = Error(ErrorCode::kBug, "not connected");
  };
  comm::Neighbours* neighbours(int member) {
    return members_[static_cast<std::size_t>(member)].neighbours->get();
  }

  std::vector<Member> members_;
};

}  // namespace cohort::test

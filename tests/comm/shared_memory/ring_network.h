#pragma once

#include "comm/shared_memory/transport.h"

#include <atomic>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cohort::test {

/// Members of one host, all in this process, each with an arena of its own and connected to all others.
///
/// Lifetime: must outlive its transports and doorbells.
class RingNetwork {
 public:
  explicit RingNetwork(int num_members, std::vector<int> global_ranks = {})
      : members_(static_cast<std::size_t>(num_members)) {
    static std::atomic<int> num_networks{0};
    const std::string name = fmt::format("cohort-rings-{}-{}", ::getpid(), num_networks.fetch_add(1));
    std::vector<std::jthread> threads;
    for (int member = 0; member < num_members; ++member) {
      Member& mine = members_[static_cast<std::size_t>(member)];
      mine.arena = value_or_throw(Arena::create(std::size_t{64} << 20));
      threads.emplace_back([name, member, num_members, &global_ranks, &mine] {
        const SharedMemoryOptions options{
            .rendezvous = name,
            .facts = {.rank = member, .world = num_members, .global_ranks = global_ranks}};
        auto met = comm::Neighbours::meet(*mine.arena, options);
        if (met) {
          mine.neighbours = std::shared_ptr<comm::Neighbours>(std::move(*met));
        } else {
          mine.failure = met.error();
        }
      });
    }
    threads.clear();
    for (const Member& member : members_) {
      if (member.failure) raise(*member.failure);
    }
  }

  std::unique_ptr<comm::Transport> take(int member) {
    return std::make_unique<comm::SharedMemoryTransport>(*neighbours(member));
  }
  std::unique_ptr<comm::Doorbell> make_doorbell(int member) {
    return std::make_unique<comm::ArenaDoorbell>(members_[static_cast<std::size_t>(member)].arena->header());
  }
  const std::shared_ptr<comm::Neighbours>& neighbours(int member) const {
    return members_[static_cast<std::size_t>(member)].neighbours;
  }
  Arena& arena(int member) const { return *members_[static_cast<std::size_t>(member)].arena; }

 private:
  struct Member {
    std::unique_ptr<Arena> arena{};
    std::shared_ptr<comm::Neighbours> neighbours{};
    std::optional<Error> failure{};
  };

  std::vector<Member> members_;
};

}  // namespace cohort::test

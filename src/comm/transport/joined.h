#pragma once

#include "comm/transport/transport.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace cohort::comm {

/// Two transports as one: a near one to some members, a far one to all others. Members are counted as the far
/// one counts them; `near_members` says which of them the members of the near one are, in its order, this
/// member among them.
///
/// Threads, Failure: as every transport.
/// Lifetime: owns both.
/// Cost: none of its own.
class JoinedTransport final : public Transport {
 public:
  JoinedTransport(std::unique_ptr<Transport> near, std::unique_ptr<Transport> far,
                  std::vector<int> near_members);

  int member() const override { return far_->member(); }
  int num_members() const override { return far_->num_members(); }
  void open(FrameSink& sink, Doorbell& doorbell) override;
  void send(int to, const FrameHeader& header, std::span<const std::byte> payload, Sent sent) override;
  void withdraw(std::uint32_t group, std::uint32_t generation) override;
  void give_up(int member, const Error& why) override;
  void close() override;
  bool advance() override;
  TimePoint wanted_at() const override { return std::min(near_->wanted_at(), far_->wanted_at()); }

 private:
  // Tells the sink what comes from near members under their numbers among all.
  class NearSink final : public FrameSink {
   public:
    explicit NearSink(const std::vector<int>& members) : members_(members) {}
    void open(FrameSink& sink) { sink_ = &sink; }

    std::span<std::byte> place(int from, const FrameHeader& header) override {
      return sink_->place(all(from), header);
    }
    void arrived(int from, const FrameHeader& header) override { sink_->arrived(all(from), header); }
    void taken_back(int from, const FrameHeader& header) override { sink_->taken_back(all(from), header); }
    void heard(int from) override { sink_->heard(all(from)); }
    void lost(int member, const Error& why) override { sink_->lost(all(member), why); }

   private:
    int all(int member) const { return members_[static_cast<std::size_t>(member)]; }
    const std::vector<int>& members_;
    FrameSink* sink_ = nullptr;
  };

  // The number among near members; -1: it is far.
  int near_number(int member) const { return near_numbers_[static_cast<std::size_t>(member)]; }

  const std::vector<int> near_members_;
  std::vector<int> near_numbers_;
  NearSink near_sink_;
  const std::unique_ptr<Transport> near_;
  const std::unique_ptr<Transport> far_;
};

}  // namespace cohort::comm

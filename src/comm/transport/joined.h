#pragma once

#include "comm/transport/transport.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace cohort::comm {

/// Two transports as one: a near one to some members, a far one to all others. Members have the numbers of
/// the far transport; `near_members` lists those that the near transport reaches, this member included, in
/// the order of its own numbers.
///
/// Threads: as every transport.
/// Lifetime: owns both transports.
/// Failure: as every transport.
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
  // Passes messages of the near transport on, with the members' numbers of the far transport.
  class NearSink final : public FrameSink {
   public:
    explicit NearSink(const std::vector<int>& members) : members_(members) {}
    void open(FrameSink& sink) { sink_ = &sink; }

    std::span<std::byte> buffer_for(int from, const FrameHeader& header) override {
      return sink_->buffer_for(all(from), header);
    }
    void arrived(int from, const FrameHeader& header) override { sink_->arrived(all(from), header); }
    void withdrawn(int from, const FrameHeader& header) override { sink_->withdrawn(all(from), header); }
    void heard(int from) override { sink_->heard(all(from)); }
    void lost(int member, const Error& why) override { sink_->lost(all(member), why); }

   private:
    int all(int member) const { return members_[static_cast<std::size_t>(member)]; }
    const std::vector<int>& members_;
    FrameSink* sink_ = nullptr;
  };

  // The number in the near transport; -1 for a far member.
  int near_number(int member) const { return near_numbers_[static_cast<std::size_t>(member)]; }

  const std::vector<int> near_members_;
  std::vector<int> near_numbers_;
  NearSink near_sink_;
  const std::unique_ptr<Transport> near_;
  const std::unique_ptr<Transport> far_;
};

}  // namespace cohort::comm

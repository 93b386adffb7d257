#pragma once

#include "net/assembly.h"
#include "net/memory_stream.h"
#include "net/stripes.h"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <vector>

namespace cohort::test {

/// Keeps whole messages.
struct WholeMessages final : net::MessageSink {
  std::span<std::byte> place(const comm::FrameHeader& header) override {
    if (!current || *current != header) payload.assign(header.size_bytes, std::byte{0});
    current = header;
    if (drops) return {};
    return payload;
  }
  void arrived(const comm::FrameHeader& header) override {
    EXPECT_EQ(current, header) << "of the last place()";
    current.reset();
    headers.push_back(header);
    payloads.push_back(std::exchange(payload, {}));
  }
  void taken_back(const comm::FrameHeader& header) override {
    EXPECT_EQ(current, header) << "of the last place()";
    current.reset();
    taken_back_numbers.push_back(header.number);
  }

  bool drops = false;
  std::optional<comm::FrameHeader> current;
  std::vector<std::byte> payload;
  std::vector<comm::FrameHeader> headers;
  std::vector<std::vector<std::byte>> payloads;
  std::vector<std::uint64_t> taken_back_numbers;
};

/// One direction of a link without sockets: lanes over pipes, in whatever order the dice say.
class StripedPair {
 public:
  StripedPair(std::size_t num_lanes, std::uint64_t seed)
      : seed_(seed), dice_(seed, 4), assembly_(num_lanes, whole) {
    for (std::size_t number = 0; number < num_lanes; ++number) {
      lanes_.push_back(std::make_unique<Lane>(assembly_, number, seed * 100 + number));
      outs_.push_back(&lanes_.back()->out);
    }
  }

  void send(const comm::FrameHeader& header, std::span<const std::byte> payload, net::OutStream::Sent sent) {
    net::add_striped(outs_, ++num_sent_, header, payload, std::move(sent));
  }
  net::OutStream& out(std::size_t lane) { return *outs_[lane]; }
  void take_back(std::uint32_t group, std::uint32_t generation) {
    for (net::OutStream* out : outs_) out->take_back(group, generation);
  }
  void break_after(std::size_t lane, std::size_t bytes) { lanes_[lane]->pipe->break_after(bytes); }

  /// Lets one lane, or the other, write and read a little, `steps` times.
  Status run(std::size_t steps) {
    for (std::size_t step = 0; step < steps; ++step) {
      Lane& lane = *lanes_[dice_.bits(num_steps_++) % lanes_.size()];
      COHORT_RETURN_IF_ERROR(advance(lane));
    }
    return {};
  }
  /// As a receipt of all lanes would.
  void acknowledge() {
    for (const auto& lane : lanes_) EXPECT_TRUE(lane->out.has_taken(lane->in.num_taken()));
    for (const auto& lane : lanes_) {
      for (const auto& sent : lane->out.take_ready()) sent({});
    }
  }

  WholeMessages whole;

 private:
  struct Lane final : net::MessageSink {
    Lane(net::Assembly& all, std::size_t lane, std::uint64_t seed)
        : assembly(all), number(lane), pipe(std::make_unique<MemoryPipe>(seed)) {}
    Result<bool> admit(const comm::FrameHeader& header) override { return assembly.admit(number, header); }
    std::span<std::byte> place(const comm::FrameHeader& header) override {
      return assembly.place(number, header);
    }
    void arrived(const comm::FrameHeader& header) override {
      if (outcome) outcome = assembly.arrived(number, header);
    }
    void taken_back(const comm::FrameHeader& header) override {
      if (outcome) outcome = assembly.taken_back(number, header);
    }

    net::Assembly& assembly;
    const std::size_t number;
    net::OutStream out{net::Guard::kChecksum};
    net::InStream in{net::Guard::kChecksum};
    std::unique_ptr<MemoryPipe> pipe;
    Status outcome{};
  };

  Status advance(Lane& lane) {
    if (lane.pipe->is_broken()) {
      lane.pipe = std::make_unique<MemoryPipe>(seed_ * 1000 + num_steps_);
      lane.in.start_over();
      COHORT_RETURN_IF_ERROR(lane.out.go_on_from(lane.in.num_taken()));
    }
    auto from = lane.pipe->end(0);
    auto to = lane.pipe->end(1);
    if (lane.out.has_more()) {
      const auto put = from.write(lane.out.gather(20000));
      if (put) lane.out.wrote(*put);
    }
    const auto got = lane.in.read(to, lane, 20000);
    if (!got && got.error().root().code() == ErrorCode::kCorrupt) return got.error();
    return lane.outcome;
  }

  const std::uint64_t seed_;
  RandomStream dice_;
  std::uint64_t num_steps_ = 0;
  std::uint64_t num_sent_ = 0;
  net::Assembly assembly_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<net::OutStream*> outs_;
};

}  // namespace cohort::test

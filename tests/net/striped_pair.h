#pragma once

#include "net/assembly.h"
#include "net/memory_stream.h"
#include "net/stripes.h"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <vector>

namespace cohort::test {

/// Records whole messages.
struct WholeMessages {
  static Result<bool> admit(const comm::FrameHeader&) { return true; }
  std::span<std::byte> buffer_for(const comm::FrameHeader& header) {
    if (!current || *current != header) payload.assign(header.size_bytes, std::byte{0});
    current = header;
    if (drops) return {};
    return payload;
  }
  void arrived(const comm::FrameHeader& header) {
    EXPECT_EQ(current, header) << "of the last buffer_for()";
    current.reset();
    headers.push_back(header);
    payloads.push_back(std::exchange(payload, {}));
  }
  void withdrawn(const comm::FrameHeader& header) {
    EXPECT_EQ(current, header) << "of the last buffer_for()";
    current.reset();
    withdrawn_numbers.push_back(header.number);
  }

  bool drops = false;
  std::optional<comm::FrameHeader> current;
  std::vector<std::byte> payload;
  std::vector<comm::FrameHeader> headers;
  std::vector<std::vector<std::byte>> payloads;
  std::vector<std::uint64_t> withdrawn_numbers;
};

/// One direction of a link without sockets: rails over memory pipes that advance in random order.
class StripedPair {
 public:
  StripedPair(std::size_t num_rails, std::uint64_t seed)
      : seed_(seed), dice_(seed, 4), assembly_(num_rails, whole) {
    for (std::size_t number = 0; number < num_rails; ++number) {
      rails_.push_back(std::make_unique<Rail>(assembly_, number, seed * 100 + number));
      outs_.push_back(&rails_.back()->out);
    }
  }

  void send(const comm::FrameHeader& header, std::span<const std::byte> payload, net::OutStream::Sent sent) {
    net::add_striped(outs_, ++num_sent_, header, payload, std::move(sent));
  }
  net::OutStream& out(std::size_t rail) { return *outs_[rail]; }
  void withdraw(std::uint32_t group, std::uint32_t generation) {
    for (net::OutStream* out : outs_) out->withdraw(group, generation);
  }
  void break_after(std::size_t rail, std::size_t bytes) { rails_[rail]->pipe->break_after(bytes); }

  /// Lets a random rail write and read a little, `steps` times.
  Status run(std::size_t steps) {
    for (std::size_t step = 0; step < steps; ++step) {
      Rail& rail = *rails_[dice_.bits(num_steps_++) % rails_.size()];
      COHORT_RETURN_IF_ERROR(advance(rail));
    }
    return {};
  }
  /// Acknowledges everything received on all rails, and runs the callbacks.
  void acknowledge() {
    for (const auto& rail : rails_) EXPECT_TRUE(rail->out.has_taken(rail->in.num_taken()));
    for (const auto& rail : rails_) {
      for (const auto& sent : rail->out.take_ready()) sent({});
    }
  }

  WholeMessages whole;

 private:
  struct Rail {
    Rail(net::Assembly<WholeMessages>& all, std::size_t rail, std::uint64_t seed)
        : assembly(all), number(rail), pipe(std::make_unique<MemoryPipe>(seed)) {}
    Result<bool> admit(const comm::FrameHeader& header) { return assembly.admit(number, header); }
    std::span<std::byte> buffer_for(const comm::FrameHeader& header) {
      return assembly.buffer_for(number, header);
    }
    void arrived(const comm::FrameHeader& header) {
      if (outcome) outcome = assembly.arrived(number, header);
    }
    void withdrawn(const comm::FrameHeader& header) {
      if (outcome) outcome = assembly.withdrawn(number, header);
    }

    net::Assembly<WholeMessages>& assembly;
    const std::size_t number;
    net::OutStream out{net::Guard::kChecksum};
    net::InStream in{net::Guard::kChecksum};
    std::unique_ptr<MemoryPipe> pipe;
    Status outcome{};
  };

  Status advance(Rail& rail) {
    if (rail.pipe->is_broken()) {
      rail.pipe = std::make_unique<MemoryPipe>(seed_ * 1000 + num_steps_);
      rail.in.start_over();
      COHORT_RETURN_IF_ERROR(rail.out.go_on_from(rail.in.num_taken()));
    }
    auto from = rail.pipe->end(0);
    auto to = rail.pipe->end(1);
    if (rail.out.has_more()) {
      const auto put = from.write(rail.out.gather(20000));
      if (put) rail.out.wrote(*put);
    }
    const auto got = rail.in.read(to, rail, 20000);
    if (!got && got.error().root().code() == ErrorCode::kCorrupt) return got.error();
    return rail.outcome;
  }

  const std::uint64_t seed_;
  RandomStream dice_;
  std::uint64_t num_steps_ = 0;
  std::uint64_t num_sent_ = 0;
  net::Assembly<WholeMessages> assembly_;
  std::vector<std::unique_ptr<Rail>> rails_;
  std::vector<net::OutStream*> outs_;
};

}  // namespace cohort::test

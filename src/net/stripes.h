#pragma once

#include "net/hello.h"
#include "net/out_stream.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace cohort::net {

// A long payload is striped over all rails: each rail carries one stripe, as a frame of its own.
//
//     rail 0   … | heading  | stripe 0 | the next message …
//     rail 1   … | stripe 1 | …
//     rail 2   … | stripe 2 | …
//
// The heading is a frame on rail 0 whose payload is the header of the striped message. Rail 0 defines the
// order of messages: a message behind a striped one waits until all stripes have come, and a stripe that
// comes before its heading waits for it.

/// A contiguous part of a payload.
struct Stripe {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;

  bool operator==(const Stripe&) const = default;
};

/// The stripe of one rail. All stripes have about the same size; the payload must have at least one byte per
/// rail.
Stripe stripe_of(std::uint64_t size_bytes, std::size_t rail, std::size_t num_rails);

/// Queues a message as a heading and one stripe per rail. `number` counts the striped messages of these
/// rails, from 1. `sent` runs once, after the callbacks of all stripes, with the first failure among them.
void add_striped(std::span<OutStream* const> rails, std::uint64_t number, const comm::FrameHeader& header,
                 std::span<const std::byte> payload, OutStream::Sent sent);

}  // namespace cohort::net

#pragma once

#include "net/hello.h"
#include "net/out_stream.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace cohort::net {

// A long payload that several lanes carry together: each carries one stripe of it, as a message of its own.
//
//     lane 0   … | heading  | stripe 0 | the next message …
//     lane 1   … | stripe 1 | …
//     lane 2   … | stripe 2 | …
//
// Messages stay in the order of lane 0: the one behind a striped message waits until all stripes are there,
// and a stripe waits for the heading of its message, which has the header.

/// A part of a payload.
struct Stripe {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;

  bool operator==(const Stripe&) const = default;
};

/// What one lane carries of a payload that has at least a byte for each: about as much as the others.
Stripe stripe_of(std::uint64_t size_bytes, std::size_t lane, std::size_t num_lanes);

/// Adds a message to all lanes, as stripes. `number`: which striped message of these lanes it is, from 1.
///
/// `sent` is called once, when every lane has called back, with the first failure among them.
void add_striped(std::span<OutStream* const> lanes, std::uint64_t number, const comm::FrameHeader& header,
                 std::span<const std::byte> payload, OutStream::Sent sent);

}  // namespace cohort::net

#pragma once

#include "base/result.h"
#include "comm/transport/frame.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace cohort::comm {

/// A message matches a receive with an equal key.
struct MatchKey {
  int member = 0;
  Channel channel = Channel::kMessage;
  std::uint32_t group = 0;
  std::uint32_t generation = 0;
  std::uint64_t number = 0;
  std::uint64_t tag = 0;
  auto operator<=>(const MatchKey&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm

  static MatchKey of(int member, const FrameHeader& header);
};

/// A receive that waits for its message.
struct Receive {
  std::uint64_t signature = 0;
  std::span<std::byte> into{};
  std::function<void(const Status&)> done{};
  bool has_called = false;  ///< for a message that its sender holds back
};

/// Whether a message has the signature and the length that its receive expects.
/// Failure: kUsage with both signatures, kCorrupt with both lengths.
Status fits(int from, const FrameHeader& message, const Receive& receive);

/// A message that no receive was waiting for.
struct KeptMessage {
  int from = 0;
  FrameHeader header{};
  std::vector<std::byte> payload{};
};

/// Receives without a message and messages without a receive. Among equal keys, the first matches the first.
///
/// Threads: one at a time.
class Matching {
 public:
  explicit Matching(int num_members) : kept_bytes_(static_cast<std::size_t>(num_members), 0) {}

  void add(const MatchKey& key, Receive receive);
  void add(KeptMessage message);

  bool has_receive(const MatchKey& key) const { return receives_.contains(key); }
  /// Marks the first receive of this key that has not called for a message; false if there is none.
  bool call_for(const MatchKey& key);
  std::optional<Receive> take_receive(const MatchKey& key);
  std::optional<KeptMessage> take_message(const MatchKey& key);
  /// All receives that wait for this member.
  std::vector<Receive> take_receives_of(int member);
  /// All messages of this channel and group; those of one member in the order in which it sent them.
  std::vector<KeptMessage> take_messages_of(Channel channel, std::uint32_t group);
  /// Drops receives and messages of this group up to this generation.
  void forget(std::uint32_t group, std::uint32_t generation);
  void clear();

  /// Bytes in the kept payloads of this member.
  std::size_t kept_bytes(int member) const { return kept_bytes_[static_cast<std::size_t>(member)]; }

 private:
  void let_go(const KeptMessage& message);

  std::map<MatchKey, std::deque<Receive>> receives_;
  std::map<MatchKey, std::deque<KeptMessage>> kept_;
  std::vector<std::size_t> kept_bytes_;  // by member
};

}  // namespace cohort::comm

#pragma once

#include "base/result.h"
#include "net/socket.h"
#include <cohort/link_settings.h>

#include <cstddef>
#include <string>
#include <vector>

namespace cohort::world {

/// What a rank tells the others of itself before they can talk.
struct Card {
  std::string version{};         ///< of Cohort
  std::string door{};            ///< a name of the kernel's that only this host knows
  Engine engine = Engine::kTcp;  ///< what it talks to other hosts by: TCP or UCX
  std::string schedules{};       ///< how somebody wants calls to be carried: see schedules_text()
  std::vector<net::SocketAddress> addresses{};  ///< where it listens, with TCP
  std::vector<std::string> subnets{};           ///< that of each address, `10.0.0.0/24`; may be empty
  std::vector<std::byte> worker{};              ///< where it is reached, with UCX

  /// Lines of a word and a value.
  std::string text() const;
  /// kCorrupt for what is no card.
  static Result<Card> parse(const std::string& text);
};

/// Algorithm, chunk and wire type that somebody wants, in words; empty: nobody wants anything.
std::string schedules_text(const LinkSettings& settings);

/// All cards, by rank. kUnsupported, naming both, if one is of another version than ours; kUsage if one is of
/// another engine, or wants calls to be carried in another way.
Result<std::vector<Card>> parse_cards(const std::vector<std::string>& texts, const Card& own);

}  // namespace cohort::world

#pragma once

#include "base/result.h"
#include "net/socket.h"

#include <string>
#include <vector>

namespace cohort::world {

/// What a rank tells the others of itself before they can talk.
struct Card {
  std::string version{};                        ///< of Cohort
  std::string door{};                           ///< a name of the kernel's that only this host knows
  std::vector<net::SocketAddress> addresses{};  ///< where it listens

  /// Lines of a word and a value.
  std::string text() const;
  /// kCorrupt for what is no card.
  static Result<Card> parse(const std::string& text);
};

/// All cards, by rank. kUnsupported, naming both, if one is of another version than ours.
Result<std::vector<Card>> parse_cards(const std::vector<std::string>& texts, const std::string& version);

}  // namespace cohort::world

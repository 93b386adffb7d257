#include "world/card.h"

#include <fmt/format.h>
#include <sstream>

namespace cohort::world {

std::string Card::text() const {
  std::string lines = fmt::format("version {}\ndoor {}\n", version, door);
  for (const net::SocketAddress& address : addresses) lines += fmt::format("address {}\n", address.text());
  return lines;
}

Result<Card> Card::parse(const std::string& text) {
  Card card;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    const std::string word = line.substr(0, blank);
    const std::string value = blank == std::string::npos ? "" : line.substr(blank + 1);
    if (word == "version") {
      card.version = value;
    } else if (word == "door") {
      card.door = value;
    } else if (word == "address") {
      // One may be of an interface that only the other host has.
      if (const auto address = net::SocketAddress::parse(value)) card.addresses.push_back(*address);
    } else {
      return Error(ErrorCode::kCorrupt, fmt::format("a card has a line '{}'", line));
    }
  }
  if (card.version.empty() || card.door.empty() || card.addresses.empty()) {
    return Error(ErrorCode::kCorrupt, "a card lacks a line");
  }
  return card;
}

Result<std::vector<Card>> parse_cards(const std::vector<std::string>& texts, const std::string& version) {
  std::vector<Card> cards;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    COHORT_ASSIGN_OR_RETURN(Card card, Card::parse(texts[rank]).within(fmt::format("rank {}", rank)));
    if (card.version != version) {
      return Error(ErrorCode::kUnsupported,
                   fmt::format("rank {} runs Cohort {}, this rank {}", rank, card.version, version))
          .with_remedy("Install the same version on all hosts.");
    }
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace cohort::world

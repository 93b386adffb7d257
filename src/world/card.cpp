#include "world/card.h"

#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <sstream>

namespace cohort::world {
namespace {

Error corrupt(std::string what) {
  return {ErrorCode::kCorrupt, std::move(what)};
}

std::string hex_of(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<int>(byte));
  return text;
}

std::optional<std::vector<std::byte>> bytes_of(const std::string& hex) {
  if (hex.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const char* const end = hex.data() + i + 2;
    unsigned char byte = 0;
    const auto [stop, failure] = std::from_chars(hex.data() + i, end, byte, 16);
    if (failure != std::errc() || stop != end) return std::nullopt;
    bytes.push_back(std::byte{byte});
  }
  return bytes;
}

Status read_line(const std::string& line, Card& card) {
  const std::size_t blank = line.find(' ');
  const std::string word = line.substr(0, blank);
  const std::string value = blank == std::string::npos ? "" : line.substr(blank + 1);
  if (word == "version") {
    card.version = value;
  } else if (word == "door") {
    card.door = value;
  } else if (const auto engine = engine_named(value); word == "engine" && engine) {
    card.engine = *engine;
  } else if (word == "address") {
    // One may be of an interface that only the other host has.
    if (const auto address = net::SocketAddress::parse(value)) card.addresses.push_back(*address);
  } else if (const auto bytes = bytes_of(value); word == "worker" && bytes) {
    card.worker = *bytes;
  } else {
    return corrupt(fmt::format("a card has a line '{}'", line));
  }
  return {};
}

bool is_reachable(const Card& card) {
  return card.engine == Engine::kUcx ? !card.worker.empty() : !card.addresses.empty();
}

Status compare(std::size_t rank, const Card& card, const Card& own) {
  if (card.version != own.version) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("rank {} runs Cohort {}, this rank {}", rank, card.version, own.version))
        .with_remedy("Install the same version on all hosts.");
  }
  if (card.engine == own.engine) return {};
  return Error(ErrorCode::kUsage, fmt::format("rank {} uses the engine {}, this rank {}", rank,
                                              name(card.engine), name(own.engine)))
      .with_remedy("Choose the same engine for all ranks: COHORT_ENGINE may be set on one host only.");
}

}  // namespace

std::string Card::text() const {
  std::string lines = fmt::format("version {}\ndoor {}\nengine {}\n", version, door, name(engine));
  for (const net::SocketAddress& address : addresses) lines += fmt::format("address {}\n", address.text());
  if (!worker.empty()) lines += fmt::format("worker {}\n", hex_of(worker));
  return lines;
}

Result<Card> Card::parse(const std::string& text) {
  Card card;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) COHORT_RETURN_IF_ERROR(read_line(line, card));
  if (card.version.empty() || card.door.empty() || !is_reachable(card)) {
    return corrupt("a card lacks a line");
  }
  return card;
}

Result<std::vector<Card>> parse_cards(const std::vector<std::string>& texts, const Card& own) {
  std::vector<Card> cards;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    COHORT_ASSIGN_OR_RETURN(Card card, Card::parse(texts[rank]).within(fmt::format("rank {}", rank)));
    COHORT_RETURN_IF_ERROR(compare(rank, card, own));
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace cohort::world

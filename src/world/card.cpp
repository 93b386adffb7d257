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

std::optional<std::uint64_t> number_of(const std::string& hex) {
  std::uint64_t number = 0;
  const auto [end, failure] = std::from_chars(hex.data(), hex.data() + hex.size(), number, 16);
  if (failure != std::errc() || end != hex.data() + hex.size()) return std::nullopt;
  return number;
}

// A link-local address may name an interface that only the other host has; such an address is skipped.
void read_address(const std::string& value, Card& card) {
  const std::size_t blank = value.find(' ');
  const auto address = net::SocketAddress::parse(value.substr(0, blank));
  if (!address) return;
  card.addresses.push_back(*address);
  card.subnets.push_back(blank == std::string::npos ? "" : value.substr(blank + 1));
}

Status read_line(const std::string& line, Card& card) {
  const std::size_t blank = line.find(' ');
  const std::string word = line.substr(0, blank);
  const std::string value = blank == std::string::npos ? "" : line.substr(blank + 1);
  if (word == "version") {
    card.version = value;
  } else if (word == "door") {
    card.door = value;
  } else if (const auto backend = backend_named(value); word == "backend" && backend) {
    card.backend = *backend;
  } else if (const auto members = number_of(value); word == "members" && members) {
    card.members = *members;
  } else if (word == "schedules") {
    card.schedules = value;
  } else if (word == "address") {
    read_address(value, card);
  } else if (const auto bytes = bytes_of(value); word == "worker" && bytes) {
    card.worker = *bytes;
  } else {
    return corrupt(
        fmt::format("line '{}', expected version, door, backend, members, schedules, address or worker with "
                    "a valid value",
                    line));
  }
  return {};
}

std::string missing_line(const Card& card) {
  if (card.version.empty()) return "version";
  if (card.door.empty()) return "door";
  if (card.backend == Backend::kUcx) return card.worker.empty() ? "worker" : "";
  return card.addresses.empty() ? "address" : "";
}

// Read first: the card of another version may have lines that this version does not know.
std::optional<std::string> version_in(const std::string& text) {
  const std::string word = "version ";
  if (!text.starts_with(word)) return std::nullopt;
  return text.substr(word.size(), text.find('\n') - word.size());
}

Status compare_versions(std::size_t rank, const std::string& version, const Card& own) {
  if (version == own.version) return {};
  return Error(ErrorCode::kUnsupported,
               fmt::format("rank {} runs Cohort {}, this rank {}", rank, version, own.version))
      .with_remedy("Install the same version on all hosts.");
}

Status compare_backends(std::size_t rank, const Card& card, const Card& own) {
  if (card.backend == own.backend) return {};
  return Error(ErrorCode::kUsage, fmt::format("rank {} uses the backend {}, this rank {}", rank,
                                              name(card.backend), name(own.backend)))
      .with_remedy("Choose the same backend for all ranks: COHORT_BACKEND may be set on one host only.");
}

Status compare_schedules(std::size_t rank, const Card& card, const Card& own) {
  if (card.schedules == own.schedules) return {};
  const auto words = [](const Card& of) { return of.schedules.empty() ? "nothing" : of.schedules; };
  return Error(ErrorCode::kUsage,
               fmt::format("rank {} asks for {}, this rank for {}", rank, words(card), words(own)))
      .with_remedy(
          "Set the same on all ranks: COHORT_ALGORITHM, COHORT_CHUNK or COHORT_WIRE may be set on one host "
          "only.");
}

Status compare_members(std::size_t rank, const Card& card, const Card& own) {
  if (card.members == own.members) return {};
  return Error(ErrorCode::kUsage, fmt::format("rank {} and this rank have different lists of members", rank))
      .with_rank(static_cast<int>(rank))
      .with_remedy("Pass the same members, roles and order to form() on every member.");
}

}  // namespace

std::string schedules_text(const LinkSettings& settings) {
  std::string text;
  if (settings.algorithm) text += fmt::format("algorithm={} ", name(*settings.algorithm));
  if (settings.chunk_bytes) text += fmt::format("chunk={} ", *settings.chunk_bytes);
  const WireDType wire = settings.wire.value_or(WireDType::kSame);
  if (wire != WireDType::kSame) text += fmt::format("wire={} ", name(wire));
  if (!text.empty()) text.pop_back();
  return text;
}

std::string Card::text() const {
  std::string lines = fmt::format("version {}\ndoor {}\nbackend {}\n", version, door, name(backend));
  if (members != 0) lines += fmt::format("members {:x}\n", members);
  if (!schedules.empty()) lines += fmt::format("schedules {}\n", schedules);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const bool has_subnet = i < subnets.size() && !subnets[i].empty();
    lines += fmt::format("address {}{}{}\n", addresses[i].text(), has_subnet ? " " : "",
                         has_subnet ? subnets[i] : "");
  }
  if (!worker.empty()) lines += fmt::format("worker {}\n", hex_of(worker));
  return lines;
}

Result<Card> Card::parse(const std::string& text) {
  Card card;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) COHORT_RETURN_IF_ERROR(read_line(line, card));
  if (const std::string missing = missing_line(card); !missing.empty()) {
    return corrupt(fmt::format("{} bytes without the line '{}'", text.size(), missing));
  }
  return card;
}

Result<std::vector<Card>> parse_cards(const std::vector<std::string>& texts, const Card& own) {
  std::vector<Card> cards;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    COHORT_RETURN_IF_ERROR(compare_versions(rank, version_in(texts[rank]).value_or(own.version), own));
    COHORT_ASSIGN_OR_RETURN(Card card,
                            Card::parse(texts[rank]).within(fmt::format("corrupt card of rank {}", rank)));
    COHORT_RETURN_IF_ERROR(compare_backends(rank, card, own));
    COHORT_RETURN_IF_ERROR(compare_schedules(rank, card, own));
    COHORT_RETURN_IF_ERROR(compare_members(rank, card, own));
    cards.push_back(std::move(card));
  }
  return cards;
}

}  // namespace cohort::world

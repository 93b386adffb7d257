#pragma once

#include "base/result.h"
#include "net/socket.h"
#include <cohort/link_settings.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cohort::world {

/// The facts about a rank that the others need before they can exchange messages with it.
struct Card {
  std::string version{};            ///< version of Cohort
  std::string door{};               ///< name of its Door, see locality.h
  Backend backend = Backend::kTcp;  ///< backend between hosts: TCP or UCX
  std::uint64_t members = 0;        ///< checksum of the list of members and their roles
  std::string schedules{};  ///< algorithm, chunk and wire type that the user set, see schedules_text()
  std::vector<net::SocketAddress> addresses{};  ///< TCP: addresses of the listener
  std::vector<std::string> subnets{};           ///< TCP: `10.0.0.0/24` for each address; may be empty
  std::vector<std::byte> worker{};              ///< UCX: address of the worker

  /// One line for each fact: a word, a blank, the value.
  std::string text() const;
  /// kCorrupt for a line that is unknown, invalid or missing.
  static Result<Card> parse(const std::string& text);
};

/// The algorithm, chunk and wire type that the user set, as text; empty if the user set none of them.
std::string schedules_text(const LinkSettings& settings);

/// Parses the cards of all ranks and compares them with the own card. kUnsupported, with both versions, if a
/// rank runs another version; kUsage if a rank uses another backend, other schedules or another list of
/// members; kCorrupt names the rank.
Result<std::vector<Card>> parse_cards(const std::vector<std::string>& texts, const Card& own);

/// The highest number of rails that is chosen by itself; users may ask for more.
inline constexpr int kMostChosenRails = 4;

/// The number of cables, and so of rails, that every pair of hosts has in common: the subnets in which both
/// hosts have an address, at least 1. A subnet in which both have the same address, as the bridges of
/// containers, is not a cable. IPv6 subnets count only between hosts without a common IPv4 subnet, as most
/// cables carry both.
int num_common_cables(const std::vector<Card>& cards, const std::vector<int>& hosts);

/// The addresses of `other` in the order in which rails try them: one for each common cable, then the rest.
std::vector<net::SocketAddress> by_cables(const Card& own, const Card& other);

}  // namespace cohort::world

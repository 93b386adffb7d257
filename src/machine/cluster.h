#pragma once

#include "machine/diagnose.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cohort::machine {

/// How far a host's date is from that of the first host that answered.
struct ClockReading {
  double offset_s = 0;  ///< ahead of it, or behind it if negative
  double error_s = 0;   ///< it may be off by so much, either way
};

/// What is known of one host among several.
struct HostReport {
  std::string name{};
  std::optional<std::string> failure{};  ///< why nothing else is known of it
  std::string version{};                 ///< of Cohort; empty: not known
  std::string kernel{};
  int cores = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<std::string> addresses{};  ///< with their interfaces: `eth0 10.0.0.7`
  std::vector<Finding> findings{};       ///< by its own examination
  std::optional<ClockReading> clock{};   ///< none: nobody could tell
};

/// What the way from one host to another costs.
struct LinkCost {
  double latency_s = 0;  ///< one message, one way
  double byte_s = 0;     ///< one more byte
};

/// What is known of the way from one host to another. Hosts are counted from 0 in the order of the report.
struct LinkReport {
  int from = 0;
  int to = 0;
  std::optional<LinkCost> cost{};
  std::string failure{};  ///< why there is no cost
};

/// Several hosts, and the ways between them.
struct ClusterReport {
  std::string version{};  ///< of Cohort, where the report is made
  std::vector<HostReport> hosts{};
  std::vector<LinkReport> links{};
  std::optional<std::string> failure{};  ///< why measuring ended early
};

/// The host that clocks are compared with: the first that answered; null if none did.
const HostReport* clock_reference(const ClusterReport& report);

/// Whether those hosts are fine for one job together, and what to do if not. Topics are hosts (`b`), what a
/// host found of itself (`b: memory`), and pairs (`a - b`, `a -> b` for one direction).
///
/// A way counts as slow against the median of what hosts reach on their best one: so one bad cable is seen
/// even where most ways lead over it. A host all of whose ways are slow is named once.
///
/// Cost: pure; no system calls.
std::vector<Finding> diagnose_hosts(const ClusterReport& report);

/// `941 Mbit/s`, `9.4 Gbit/s`: three digits at most.
std::string format_rate(double byte_s);
/// `1.2 ms`, `63 µs`.
std::string format_latency(double latency_s);

}  // namespace cohort::machine

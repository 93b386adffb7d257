#pragma once

#include "machine/diagnose.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cohort::machine {

/// The difference between a host's clock and the clock of the first host that answered.
struct ClockReading {
  double offset_s = 0;  ///< positive: ahead; negative: behind
  double error_s = 0;   ///< the offset may be wrong by this much, in both directions
};

/// The facts about one of several hosts.
struct HostReport {
  std::string name{};
  std::optional<std::string> failure{};  ///< why no other fact is known
  std::string version{};                 ///< the version of Cohort; empty: not known
  std::string kernel{};
  int cores = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<std::string> addresses{};  ///< with interface: `eth0 10.0.0.7`
  std::vector<Finding> findings{};       ///< from its own `cohort doctor`
  std::optional<ClockReading> clock{};   ///< empty: could not be read
};

/// The measured cost of sending from one host to another.
struct LinkCost {
  double latency_s = 0;  ///< of one small message, one way
  double byte_s = 0;     ///< for each further byte
};

/// The measurement from one host to another. `from` and `to` are indices of the report's hosts.
struct LinkReport {
  int from = 0;
  int to = 0;
  std::optional<LinkCost> cost{};
  std::string failure{};  ///< why there is no measurement
};

/// A host that could not connect to another one.
struct Unreachable {
  int from = 0;             ///< index of the report's hosts
  std::optional<int> to{};  ///< empty: the host that makes the report
  std::string why{};
};

/// Several hosts, and the links between them.
struct ClusterReport {
  std::string version{};  ///< the version of Cohort that makes the report
  std::vector<HostReport> hosts{};
  std::vector<LinkReport> links{};
  std::vector<Unreachable> unreachable{};
  std::optional<std::string> failure{};  ///< why the measurement ended early
};

/// The host whose clock the others are compared with: the first that answered; null if no host did.
const HostReport* clock_reference(const ClusterReport& report);

/// Whether the hosts can run one job together, and remedies if not. Topics are hosts (`b`), findings of a
/// host about itself (`b: memory`), and pairs (`a - b`, `a -> b` for one direction).
///
/// A link is slow compared with the median over hosts of their best link, so that one bad cable is found even
/// where most links use it. A host whose links are all slow is reported once.
///
/// Cost: pure; no system calls.
std::vector<Finding> diagnose_hosts(const ClusterReport& report);

/// A bandwidth with at most three digits: `941 Mbit/s`, `9.4 Gbit/s`.
std::string format_rate(double byte_s);
/// A latency: `1.2 ms`, `63 µs`.
std::string format_latency(double latency_s);

}  // namespace cohort::machine

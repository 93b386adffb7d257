#pragma once

#include <cohort/collective_algorithm.h>
#include <cohort/export.h>
#include <cohort/wire_dtype.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace cohort {

/// The transport between ranks.
enum class Backend : std::uint8_t {
  kAuto,  ///< shared memory between ranks of one host, TCP between hosts
  kTcp,   ///< as kAuto today; kAuto may choose another backend in later versions
  kUcx,   ///< shared memory between ranks of one host, UCX between hosts, without encryption
  kMpi,   ///< MPI between all ranks, which mpirun or srun must have started
};

inline constexpr Backend kAllBackends[] = {Backend::kAuto, Backend::kTcp, Backend::kUcx, Backend::kMpi};

/// `auto`, `tcp`, `ucx`, `mpi`, as in job files.
COHORT_EXPORT std::string_view name(Backend backend);
/// The backend with this name; empty for an unknown name.
COHORT_EXPORT std::optional<Backend> backend_named(std::string_view name);

/// Settings of the communication between ranks, the same on all ranks. Cohort chooses the settings that are
/// not set.
struct LinkSettings {
  static constexpr std::uint64_t kLeastChunkBytes = 4096;
  static constexpr int kMostSockets = 8;

  std::optional<Backend> backend{};
  /// The algorithm of every call between hosts that it supports. Not set: the algorithm with the shortest
  /// predicted time.
  std::optional<CollectiveAlgorithm> algorithm{};
  /// The longest message of reductions, kLeastChunkBytes or more; longer ones are sent in chunks. Not set:
  /// the length with the shortest predicted time.
  std::optional<std::uint64_t> chunk_bytes{};
  /// The dtype in which f32 numbers of reductions are sent between hosts. Not set: as they are.
  std::optional<WireDType> wire{};
  /// TCP connections between two ranks of different hosts, 1 to kMostSockets. Not set: one per network that
  /// the hosts have in common, if measurements show that several are faster than one.
  std::optional<int> sockets{};
  /// Whether rank 0 logs which links were measured and which algorithms were chosen (ContextOptions::log).
  std::optional<bool> explain{};

  /// These settings, and for those that are not set here, the settings of `others`.
  LinkSettings over(const LinkSettings& others) const {
    const auto first = [](const auto& here, const auto& there) { return here ? here : there; };
    return {.backend = first(backend, others.backend),
            .algorithm = first(algorithm, others.algorithm),
            .chunk_bytes = first(chunk_bytes, others.chunk_bytes),
            .wire = first(wire, others.wire),
            .sockets = first(sockets, others.sockets),
            .explain = first(explain, others.explain)};
  }
  bool operator==(const LinkSettings&) const = default;
};

}  // namespace cohort

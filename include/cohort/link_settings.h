#pragma once

#include <cohort/export.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cohort {

/// What carries calls from rank to rank.
enum class Engine : std::uint8_t {
  kAuto,  ///< shared memory between ranks of one host, TCP between hosts
  kTcp,   ///< the same, whatever kAuto may come to mean
  kUcx,   ///< shared memory between ranks of one host, UCX between hosts, where it encrypts nothing
  kMpi,   ///< MPI between all ranks, which mpirun or srun must have started
};

inline constexpr Engine kAllEngines[] = {Engine::kAuto, Engine::kTcp, Engine::kUcx, Engine::kMpi};

/// `auto`, `tcp`, `ucx`, `mpi`.
COHORT_EXPORT std::string_view name(Engine engine);
COHORT_EXPORT std::optional<Engine> engine_named(std::string_view name);

/// How ranks talk, as far as somebody has said so; the same on all ranks. What nobody says is left to Cohort.
struct LinkSettings {
  std::optional<Engine> engine{};
  /// Of every call between hosts that it serves (docs/algorithms.md); empty: whichever is predicted to be
  /// fastest.
  std::optional<std::string> algorithm{};
  /// The longest message of calls that combine; longer ones travel in chunks. 0: whatever is predicted to be
  /// fastest.
  std::optional<std::uint64_t> chunk_bytes{};
  /// What sums travel as between hosts: `same`, `bf16` or `f16`.
  std::optional<std::string> wire{};
  /// TCP connections between two ranks of different hosts, 1 to 8. 0: as many as the hosts have cables in
  /// common, where they were found to carry more than one.
  std::optional<int> sockets{};
  /// Whether rank 0 says on standard error what was measured and chosen.
  std::optional<bool> explain{};

  /// What is said here, and where nothing is said here, what `others` say.
  LinkSettings over(const LinkSettings& others) const {
    const auto first = [](const auto& here, const auto& there) { return here ? here : there; };
    return {.engine = first(engine, others.engine),
            .algorithm = first(algorithm, others.algorithm),
            .chunk_bytes = first(chunk_bytes, others.chunk_bytes),
            .wire = first(wire, others.wire),
            .sockets = first(sockets, others.sockets),
            .explain = first(explain, others.explain)};
  }
  bool operator==(const LinkSettings&) const = default;
};

}  // namespace cohort

#pragma once

#include "base/result.h"
#include "checkpoint/optimizer_group.h"
#include "state/position.h"
#include <cohort/state.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// A snapshot as data. docs/disk-format.md describes the bytes.

namespace cohort::checkpoint {

inline constexpr int kFormatVersion = 1;
inline constexpr std::string_view kManifestFile = "manifest.json";
/// Stored bytes are hashed in blocks of this length, so that a part of a tensor can be checked alone.
inline constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

/// How the bytes of a piece are stored.
enum class Encoding : std::uint8_t { kPlain, kZstd };

/// A piece of the state in a shard.
struct StoredPiece {
  Piece piece{};         ///< without bytes
  std::string tensor{};  ///< name in the file: that of the piece if it is whole, else `weight/exp_avg@2`
  Encoding encoding = Encoding::kPlain;
  std::uint64_t first = 0;              ///< offset of its bytes in the file
  std::uint64_t size_bytes = 0;         ///< in the file
  std::vector<std::uint64_t> hashes{};  ///< content_hash() of each block of the stored bytes
};

/// A file of a snapshot, in the format of safetensors.
struct Shard {
  std::string file{};
  std::uint64_t size_bytes = 0;
  std::uint64_t hash = 0;          ///< content_hash() of the whole file
  std::uint64_t header_bytes = 0;  ///< offset of the first tensor
  std::uint64_t header_hash = 0;   ///< content_hash() of the bytes before it
  std::vector<StoredPiece> pieces{};
};

/// The micro-batches of the epoch that are done: those of all steps before Position::step_in_epoch. The
/// samples of a step follow from the seed and from these numbers.
struct Ledger {
  std::int64_t samples = 0;     ///< in the data set
  std::int64_t batch_size = 0;  ///< over all ranks
  std::int64_t micro_batches = 0;

  bool operator==(const Ledger&) const = default;
};

/// The best evaluation so far.
struct BestEvaluation {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  double loss = 0;
  std::optional<double> accuracy{};
};

/// The course of a training, besides the pieces of its state.
struct Course {
  state::Position position{};
  Ledger ledger{};
  std::optional<double> loss{};  ///< of the last evaluation
  std::optional<BestEvaluation> best{};
  /// Settings that the course depends on, such as the seed, by name.
  std::map<std::string, std::string> settings{};
  std::string config{};  ///< the job file with all its values; empty for a program of the user
  /// The order of parameters in the buckets, by their index in the module.
  std::vector<std::int64_t> bucket_order{};
  /// When the snapshot was taken, in seconds since 1970 (UTC).
  std::optional<std::int64_t> taken_at{};
  /// The settings of the optimizer; empty if they are not known.
  std::vector<OptimizerGroup> optimizer_groups{};
};

enum class SnapshotKind : std::uint8_t {
  kFull,
  kDifference,  ///< has only the elements that changed since its base
};

/// Everything about a snapshot but the bytes of its tensors.
struct Manifest {
  int version = kFormatVersion;
  std::string cohort_version{};
  SnapshotKind kind = SnapshotKind::kFull;
  std::string base{};           ///< name of the full snapshot that a difference completes
  std::uint64_t base_hash = 0;  ///< hash_of() the manifest of that snapshot
  int ranks = 1;
  int hosts = 1;
  std::map<std::string, int> mesh{};  ///< number of ranks along each axis: data, stage, tensor, …
  Course course{};
  std::vector<Shard> shards{};
  std::uint64_t hash = 0;  ///< that with which the decoded text begins; encode() computes its own
};

std::string encode(const Manifest& manifest);
/// The hash with which the encoded manifest begins.
std::uint64_t hash_of(const Manifest& manifest);
/// Failure: kCorrupt, naming the field, what was expected and what was found, for a text that encode() did
/// not write; kUnsupported for a later version of the format.
Result<Manifest> decode_manifest(std::string_view text);

/// The descriptions of shards in a message between ranks.
std::string encode_shards(const std::vector<Shard>& shards);
Result<std::vector<Shard>> decode_shards(std::string_view text);

/// The sum of the lengths of all shards.
std::uint64_t size_bytes(const Manifest& manifest);

}  // namespace cohort::checkpoint

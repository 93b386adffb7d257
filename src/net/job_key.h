#pragma once

#include "base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cohort::net {

inline constexpr std::size_t kKeyBytes = 32;
using Secret = std::array<std::byte, kKeyBytes>;
using Mac = std::array<std::byte, 32>;

/// The secret of a job, known to its ranks alone. The launcher makes a new one for each job and passes it to
/// ranks in a file that only their user can read, or in a pipe. All MACs and TLS keys derive from it.
///
/// Threads: immutable.
/// Failure: read() returns kPermission for a file that other users can read, kCorrupt for any other content.
class JobKey {
 public:
  explicit JobKey(const Secret& secret) : secret_(secret) {}
  ~JobKey();
  JobKey(const JobKey&) = default;
  JobKey& operator=(const JobKey&) = default;

  /// A new random key.
  static Result<JobKey> make();
  /// From 64 hexadecimal digits; a newline may follow.
  static Result<JobKey> parse(std::string_view text);
  static Result<JobKey> read(const std::string& path);
  /// From the beginning of an open file, whose position does not change.
  static Result<JobKey> read_descriptor(int descriptor);
  std::string text() const;
  /// Writes a new file of mode 0600. Fails if the file exists.
  Status write(const std::string& path) const;

  /// Public identifier of the job: reveals nothing about the key.
  std::uint64_t job() const;
  /// A key derived for one purpose.
  Secret derive(std::string_view purpose) const;
  /// The MAC of these bytes, for one purpose.
  Mac sign(std::string_view purpose, std::span<const std::byte> bytes) const;
  /// Whether `mac` is the MAC of these bytes. Runs in constant time.
  bool verify(std::string_view purpose, std::span<const std::byte> bytes, const Mac& mac) const;

 private:
  Secret secret_;
};

/// Fills the span with random bytes from the kernel.
Status fill_random(std::span<std::byte> bytes);

}  // namespace cohort::net

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

/// What the members of one job have in common and nobody else knows: it is made when the job starts, and
/// reaches ranks by a file that only their user can read, or by a pipe. Everything that is kept from
/// strangers hangs on it.
///
/// Threads: immutable.
/// Failure: read() says kPermission for a file that others can read, kCorrupt for what is no key.
class JobKey {
 public:
  explicit JobKey(const Secret& secret) : secret_(secret) {}
  ~JobKey();
  JobKey(const JobKey&) = default;
  JobKey& operator=(const JobKey&) = default;

  /// A new one, by the random numbers of the kernel.
  static Result<JobKey> make();
  /// 64 hexadecimal digits and a line end.
  static Result<JobKey> parse(std::string_view text);
  static Result<JobKey> read(const std::string& path);
  /// From the beginning of a file that is open; it can be read again.
  static Result<JobKey> read_descriptor(int descriptor);
  std::string text() const;
  /// Makes a file that only this user can read; it must not be there yet.
  Status write(const std::string& path) const;

  /// Names the job to everybody: two jobs have different ones, and nothing of the key can be told from it.
  std::uint64_t job() const;
  /// A key for one purpose.
  Secret derive(std::string_view purpose) const;
  /// What only a holder of the key can say of these bytes, for one purpose.
  Mac sign(std::string_view purpose, std::span<const std::byte> bytes) const;
  /// Takes as long for a wrong one as for a right one.
  bool verify(std::string_view purpose, std::span<const std::byte> bytes, const Mac& mac) const;

 private:
  Secret secret_;
};

/// Random bytes of the kernel.
Status fill_random(std::span<std::byte> bytes);

}  // namespace cohort::net

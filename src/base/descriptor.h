#pragma once

#include <cerrno>
#include <optional>
#include <unistd.h>
#include <utility>

namespace cohort {

/// Owns a file descriptor and closes it.
///
///     Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
///     if (!file.is_open()) return failure(errno);
///
/// Threads: one at a time; number() may be read by several threads while no thread closes or moves.
/// Failure: the destructor ignores an error of close(2); close() returns it.
class [[nodiscard]] Descriptor {
 public:
  Descriptor() = default;
  /// Takes ownership of `number`, the result of open(2) or a similar call; -1 gives a closed Descriptor.
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Descriptor old(std::exchange(number_, other.release()));
    return *this;
  }

  bool is_open() const noexcept { return number_ != kClosed; }
  /// The number to pass to system calls. Ownership stays here.
  int number() const noexcept { return number_; }
  /// Gives up ownership: the caller closes.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, kClosed); }

  /// Closes now and returns errno if that failed. Does nothing on a closed Descriptor.
  std::optional<int> close() noexcept {
    if (!is_open()) return std::nullopt;
    // Linux frees the number even when close(2) fails: a retry could close a file of another thread.
    if (::close(release()) == 0 || errno == EINTR) return std::nullopt;
    return errno;
  }

 private:
  static constexpr int kClosed = -1;
  int number_ = kClosed;
};

}  // namespace cohort

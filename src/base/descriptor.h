#pragma once

#include <cerrno>
#include <optional>
#include <unistd.h>
#include <utility>

namespace cohort {

/// Owns one descriptor of the operating system and closes it.
///
///     Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
///     if (!file.is_open()) return failure(errno);
///
/// Threads: one at a time; number() may be read by several while nobody closes or moves.
/// Failure: the destructor closes silently; close() says what went wrong.
class [[nodiscard]] Descriptor {
 public:
  Descriptor() = default;
  /// Takes over `number`, as open(2) and its like return it: -1 gives a closed descriptor.
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    Descriptor old(std::exchange(number_, other.release()));
    return *this;
  }

  bool is_open() const noexcept { return number_ != kClosed; }
  /// For the calls of the operating system; still owned here.
  int number() const noexcept { return number_; }
  /// Gives up ownership: the caller closes.
  [[nodiscard]] int release() noexcept { return std::exchange(number_, kClosed); }

  /// Closes now, and returns the error number where the operating system reports one. Does nothing if closed.
  std::optional<int> close() noexcept {
    if (!is_open()) return std::nullopt;
    // Whatever close(2) returns, the descriptor is gone: trying again could close somebody else's.
    if (::close(release()) == 0 || errno == EINTR) return std::nullopt;
    return errno;
  }

 private:
  static constexpr int kClosed = -1;
  int number_ = kClosed;
};

}  // namespace cohort

#pragma once

#include "base/result.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cohort::bench {

using Address = std::vector<std::byte>;
using Settings = std::vector<std::pair<std::string, std::string>>;

/// One of two processes that send each other one message at a time.
class Side {
 public:
  virtual ~Side() = default;

  virtual Address address() const = 0;
  virtual void connect(int member, const std::vector<Address>& addresses) = 0;
  /// Returns when the payload may be used again.
  virtual void send(std::span<const std::byte> payload) = 0;
  virtual void receive(std::span<std::byte> into) = 0;
};

/// Whether UCX tells of a peer that is gone: it keeps it from some of its ways.
enum class ErrorHandling { kOff, kOn };

/// Tagged messages of UCX itself, without anything around them.
std::unique_ptr<Side> make_bare(const Settings& settings, ErrorHandling error_handling);
/// Cohort's transport, advanced by the thread that waits, as the progress thread does it.
std::unique_ptr<Side> make_ours(const Settings& settings);

}  // namespace cohort::bench

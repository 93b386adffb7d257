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
  /// Returns when the payload may be changed again.
  virtual void send(std::span<const std::byte> payload) = 0;
  virtual void receive(std::span<std::byte> into) = 0;
};

/// Whether UCX reports lost peers; some of its faster protocols do not work with that.
enum class ErrorHandling { kOff, kOn };

/// Tagged messages of UCX itself, without a transport around them.
std::unique_ptr<Side> make_bare(const Settings& settings, ErrorHandling error_handling);
/// Cohort's transport, advanced by the waiting thread as the progress thread would.
std::unique_ptr<Side> make_ours(const Settings& settings);

}  // namespace cohort::bench

#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

namespace cohort {

/// The address of a Unix socket with an abstract name, which lives in the kernel and not in the file system.
struct UnixAddress {
  sockaddr_un value{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&value); }
};

/// Failure: kUsage for a name that is empty or too long.
inline Result<UnixAddress> abstract_address(const std::string& name) {
  UnixAddress address;
  address.value.sun_family = AF_UNIX;
  if (name.empty() || name.size() + 1 > sizeof address.value.sun_path) {
    return Error(ErrorCode::kUsage, "name '" + name + "' of a unix socket: length " +
                                        std::to_string(name.size()) + ", expected 1 to " +
                                        std::to_string(sizeof address.value.sun_path - 1) + " bytes")
        .with_remedy("Choose a name of a permitted length.");
  }
  // A leading zero byte makes the name abstract.
  std::memcpy(address.value.sun_path + 1, name.data(), name.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

}  // namespace cohort

#pragma once

#include "processes/roles.h"

#include <chrono>

/// The programs that the tests of this folder start.
namespace cohort::test {

/// The roles of this test program: `flood BYTES` writes to both streams, `ignore_sigterm` prints `ready` and
/// never ends, `parent` starts a child that shares its stdout, prints `ready` and never ends.
Roles launch_roles();

/// A deadline that only a broken test reaches.
inline TimePoint soon() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(30);
}

}  // namespace cohort::test

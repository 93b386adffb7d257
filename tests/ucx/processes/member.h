#pragma once

#include "processes/roles.h"

namespace cohort::test {

/// Nanoseconds of the clock that all processes of a machine share.
std::int64_t now_ns();

/// The roles of this test program: `member`, with the directory where addresses are left, what UCX_TLS is to
/// be, and the task: `idle`, `all_reduce`, `send`.
Roles ucx_roles();

}  // namespace cohort::test

#pragma once

#include "processes/roles.h"

namespace cohort::test {

/// Nanoseconds of a clock that all processes of the machine share.
std::int64_t now_ns();

/// The roles of this test program: `member`, with the directory where addresses are left, the value of
/// UCX_TLS, and the task: `idle`, `all_reduce` or `send`.
Roles ucx_roles();

}  // namespace cohort::test

#pragma once

#include "launch/process.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cohort::test {

/// What a role is called with: `--role=NAME --rank=1 --world=4 args…`.
struct RoleCall {
  int rank = 0;
  int world = 1;
  std::vector<std::string> args{};
};

/// What a test program does in a process of its own; returns the exit code.
using Role = std::function<int(const RoleCall& call)>;
using Roles = std::map<std::string, Role>;

/// The main() of a process test: runs the tests, or the role if the first argument is `--role=NAME`. A role
/// that throws says so on stderr and exits with 70; an unknown one exits with 2.
///
///     int main(int argc, char** argv) { return run_tests_or_role(argc, argv, {{"peer", peer}}); }
int run_tests_or_role(int argc, char** argv, const Roles& roles);

/// Starts this very program again in a role. `options` are those of any process, without argv. Throws what
/// Process::start() reports.
Process spawn_role(const std::string& name, const RoleCall& call = {}, ProcessOptions options = {});

}  // namespace cohort::test

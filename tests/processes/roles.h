#pragma once

#include "supervise/process.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cohort::test {

/// The arguments of a role: `--role=NAME --rank=1 --world=4 args…`.
struct RoleCall {
  int rank = 0;
  int world = 1;
  std::vector<std::string> args{};
};

/// The code of a test program that runs in a separate process; returns the exit code.
using Role = std::function<int(const RoleCall& call)>;
using Roles = std::map<std::string, Role>;

/// The main() of a process test: runs the tests, or the role if the first argument is `--role=NAME`. A role
/// that throws prints the error to stderr and exits with 70; an unknown role exits with 2.
///
///     int main(int argc, char** argv) { return run_tests_or_role(argc, argv, {{"peer", peer}}); }
int run_tests_or_role(int argc, char** argv, const Roles& roles);

/// Starts this program again in a role. `options` are those of any process, without argv. Throws the error of
/// Process::start().
Process spawn_role(const std::string& name, const RoleCall& call = {}, ProcessOptions options = {});

}  // namespace cohort::test

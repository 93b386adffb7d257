#include "processes/roles.h"

#include "base/check.h"

#include <cstdio>
#include <exception>
#include <gtest/gtest.h>
#include <optional>
#include <string_view>

namespace cohort::test {
namespace {

constexpr int kExitOfAMistake = 2;
constexpr int kExitOfABug = 70;

// The text after `--name=`; empty for another argument.
std::optional<std::string> value_of(std::string_view name, std::string_view argument) {
  const std::string start = fmt::format("--{}=", name);
  if (!argument.starts_with(start)) return std::nullopt;
  return std::string(argument.substr(start.size()));
}

RoleCall parse_call(int argc, char** argv) {
  COHORT_CHECK_GE(argc, 4, "a role is called with --role, --rank and --world");
  RoleCall call{.args = {argv + 4, argv + argc}};
  call.rank = std::stoi(value_of("rank", argv[2]).value());
  call.world = std::stoi(value_of("world", argv[3]).value());
  return call;
}

int run_role(const std::string& name, const Roles& roles, int argc, char** argv) {
  const auto found = roles.find(name);
  if (found == roles.end()) {
    fmt::print(stderr, "this test program has no role '{}'\n", name);
    return kExitOfAMistake;
  }
  try {
    return found->second(parse_call(argc, argv));
  } catch (const std::exception& failure) {
    fmt::print(stderr, "role '{}' threw: {}\n", name, failure.what());
    return kExitOfABug;
  }
}

}  // namespace

int run_tests_or_role(int argc, char** argv, const Roles& roles) {
  const auto role = argc > 1 ? value_of("role", argv[1]) : std::nullopt;
  if (role) return run_role(*role, roles, argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

Process spawn_role(const std::string& name, const RoleCall& call, ProcessOptions options) {
  COHORT_CHECK(options.argv.empty(), "the arguments of a role are in its call");
  options.argv = {"/proc/self/exe", "--role=" + name, fmt::format("--rank={}", call.rank),
                  fmt::format("--world={}", call.world)};
  options.argv.insert(options.argv.end(), call.args.begin(), call.args.end());
  return value_or_throw(Process::start(std::move(options)));
}

}  // namespace cohort::test

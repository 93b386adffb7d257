#include "launch/refusal.h"

#include "base/system_error.h"

#include <cerrno>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace cohort::launch {
namespace {

Error exec_error(const std::string& program, int reason) {
  const bool has_path = program.find('/') != std::string::npos;
  if (reason == ENOENT && has_path && ::access(program.c_str(), F_OK) == 0) {
    return Error(ErrorCode::kNotFound, "the interpreter it asks for is not there")
        .with_remedy("Look at the first line of the file.");
  }
  if (reason == ENOENT || reason == ENOTDIR) {
    return Error(ErrorCode::kNotFound, "there is no such program")
        .with_remedy(has_path ? "Check the path." : "Check the spelling and PATH, or give the full path.");
  }
  if (reason == EACCES) {
    return Error(ErrorCode::kPermission, "it may not be executed")
        .with_remedy(fmt::format("Make it an executable file: chmod +x {}", program));
  }
  if (reason == ENOEXEC) {
    return Error(ErrorCode::kUnsupported, "it is not a program that this machine can run");
  }
  if (reason == E2BIG) {
    return Error(ErrorCode::kUsage, "its arguments and environment are too long for this system");
  }
  return system_error("the system refused", reason);
}

}  // namespace

Error refusal_error(const SpawnPlan& plan, const Refusal& refusal) {
  switch (refusal.step) {
    case Step::kParentGone:
      return Error(ErrorCode::kAborted, "whoever started it has ended");
    case Step::kGroup:
      return system_error("cannot give it a process group of its own", refusal.reason);
    case Step::kCores:
      return system_error(fmt::format("cannot bind it to the cores {}", fmt::join(plan.cores, ", ")),
                          refusal.reason);
    case Step::kDirectory:
      return system_error(fmt::format("cannot enter its working directory '{}'", *plan.working_directory),
                          refusal.reason);
    case Step::kStreams:
      return system_error("cannot connect its input and output", refusal.reason);
    case Step::kLimits:
      return system_error("cannot turn off its core dumps", refusal.reason);
    case Step::kExec:
      return exec_error(plan.argv.front(), refusal.reason);
  }
  return Error(ErrorCode::kIo, "for an unknown reason");
}

}  // namespace cohort::launch

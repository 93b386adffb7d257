#include "supervise/spawn.h"

#include "base/system_error.h"

#include <cerrno>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace cohort::supervise {
namespace {

Error exec_error(const std::string& program, int reason) {
  const bool has_path = program.find('/') != std::string::npos;
  if (reason == ENOENT && has_path && ::access(program.c_str(), F_OK) == 0) {
    return Error(ErrorCode::kNotFound, "the interpreter that its first line names does not exist")
        .with_remedy("Correct the line that begins with #!, or install the interpreter.");
  }
  if (reason == ENOENT || reason == ENOTDIR) {
    return Error(ErrorCode::kNotFound, "the program does not exist")
        .with_remedy(has_path ? "Check the path." : "Check the spelling and PATH, or give the full path.");
  }
  if (reason == EACCES) {
    return Error(ErrorCode::kPermission, "no permission to execute the program")
        .with_remedy(fmt::format("Make it an executable file: chmod +x {}", program));
  }
  if (reason == ENOEXEC) {
    return Error(ErrorCode::kUnsupported, "the file is not a program that this machine can run");
  }
  if (reason == E2BIG) {
    return Error(ErrorCode::kUsage, "arguments and environment together are too long for this system");
  }
  return system_error("exec failed", reason);
}

}  // namespace

Error refusal_error(const SpawnPlan& plan, const Refusal& refusal) {
  switch (refusal.step) {
    case Step::kParentGone:
      return Error(ErrorCode::kAborted, "the process that started the program has ended");
    case Step::kGroup:
      return system_error("cannot create a process group", refusal.reason);
    case Step::kCores:
      return system_error(fmt::format("cannot pin the program to the cores {}", fmt::join(plan.cores, ", ")),
                          refusal.reason);
    case Step::kDirectory:
      return system_error(fmt::format("cannot enter the working directory '{}'", *plan.working_directory),
                          refusal.reason);
    case Step::kStreams:
      return system_error("cannot connect input and output of the program", refusal.reason);
    case Step::kLimits:
      return system_error("cannot turn off core dumps", refusal.reason);
    case Step::kExec:
      return exec_error(plan.argv.front(), refusal.reason);
  }
  return Error(ErrorCode::kIo, "unknown failure between fork and exec");
}

}  // namespace cohort::supervise

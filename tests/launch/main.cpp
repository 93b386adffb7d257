#include "launch_roles.h"

#include <csignal>
#include <thread>
#include <unistd.h>

namespace cohort::test {
namespace {

void write_all(int descriptor, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count < 0) std::_Exit(1);
    done += static_cast<std::size_t>(count);
  }
}

[[noreturn]] void say_ready_and_hang() {
  write_all(STDOUT_FILENO, "ready\n");
  while (true) ::pause();
}

int flood(const RoleCall& call) {
  const std::size_t size_bytes = std::stoul(call.args.at(0));
  const std::jthread other([&] { write_all(STDERR_FILENO, std::string(size_bytes, 'e')); });
  write_all(STDOUT_FILENO, std::string(size_bytes, 'o'));
  return 0;
}

int ignore_sigterm(const RoleCall&) {
  ::signal(SIGTERM, SIG_IGN);
  say_ready_and_hang();
}

int parent(const RoleCall&) {
  const Process child =
      value_or_throw(Process::start({.argv = {"sleep", "1000"}, .output = InheritOutput{}}));
  say_ready_and_hang();
}

}  // namespace

Roles launch_roles() {
  return {{"flood", flood}, {"ignore_sigterm", ignore_sigterm}, {"parent", parent}};
}

}  // namespace cohort::test

int main(int argc, char** argv) {
  return cohort::test::run_tests_or_role(argc, argv, cohort::test::launch_roles());
}

// A rank that makes a child by fork(), waits for its end, and goes on. The child ends as the argument says:
// `return` from main(), or `exit`.
#include <cohort/context.h>
#include <cohort/error.h>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

int main(int argc, char** argv) try {
  const std::string_view way = argc > 1 ? argv[1] : "return";
  static cohort::Context context;  // destroyed by exit() as well
  cohort::Group group = *context.split(0);
  std::vector<float> numbers(1000, 1);
  group.async_all_reduce(numbers).wait();  // from now on there is a progress thread

  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30);  // ends a child that hangs
    if (way == "exit") std::exit(0);
    return 0;
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  group.all_reduce(numbers);
  context.all_reduce(numbers);
  if (context.rank() == 0) std::cout << "child " << status << ", sum " << numbers[999] << "\n";
  return status == 0 ? 0 : 1;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}

// Ranks that go on when one of them is lost: cohort run -n 4 --on-rank-loss tell PROGRAM 2 loses member 2.
#include <cohort/cohort.h>
#include <csignal>
#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) try {
  cohort::Context context;
  const int victim = argc > 1 ? std::atoi(argv[1]) : -1;
  for (std::array<int, 1> step = {0}; step[0] < 20; ++step[0]) {
    if (step[0] == 10 && static_cast<int>(context.id()) == victim) std::raise(SIGKILL);
    std::vector<float> sums(3, 1);
    try {
      context.all_reduce(sums);
    } catch (const cohort::Error& error) {
      std::cerr << error.text() << "\n";
      context.form(context.survivors());  // the same list on every member that is left
      // Some of them may have ended this step, and others not: all do it again.
      context.all_reduce(step, cohort::ReduceOp::kMin);
      --step[0];
      continue;
    }
    if (sums[0] != static_cast<float>(context.size())) throw cohort::UsageError("the sum is wrong");
  }
  std::cout << "rank " << context.rank() << " of " << context.size() << ", generation "
            << context.generation() << "\n";
  context.barrier();
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}

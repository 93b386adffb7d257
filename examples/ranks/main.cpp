// Every rank adds its number to a sum that all of them get.
#include <cohort/context.h>
#include <cohort/error.h>
#include <iostream>

int main() try {
  cohort::Context context;  // one of the ranks that `cohort run`, mpirun, srun or torchrun started

  std::span<float> sums = context.allocate<float>(1000);  // shared by the ranks: nothing is copied
  for (float& sum : sums) sum = static_cast<float>(context.rank() + 1);
  context.all_reduce(sums);

  if (context.rank() == 0) std::cout << context.size() << " ranks, sum " << sums[0] << "\n";
  return 0;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}

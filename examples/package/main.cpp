#include <ATen/ATen.h>
#include <cohort/tensor.h>
#include <cohort/version.h>
#include <iostream>

int main() {
  at::Tensor weight = at::empty({2, 3});
  cohort::fill_normal(weight, cohort::RandomStream(/*seed=*/42, /*stream=*/0), /*mean=*/0, /*deviation=*/1);
  std::cout << "cohort " << cohort::version() << ", the same numbers on every rank:\n" << weight << '\n';
}

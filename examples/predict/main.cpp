// Loads a model of `cohort train` that takes rows of numbers, and prints its predictions for rows on standard
// input:
//   predict runs/spirals/best.safetensors < rows.txt
#include <ATen/ATen.h>
#include <cohort/error.h>
#include <cohort/predict.h>
#include <iostream>
#include <vector>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: predict MODEL < NUMBERS\n";
    return 2;
  }
  const cohort::LoadedModel model = cohort::load_model(argv[1]);
  std::vector<float> numbers;
  for (float number = 0; std::cin >> number;) numbers.push_back(number);

  const at::NoGradGuard no_grad;
  const at::Tensor raw = at::tensor(numbers).view({-1, model.facts.input_shape.at(0)});
  const at::Tensor output = model.module->forward(cohort::normalised(model.facts, raw));
  for (const cohort::Prediction& each : cohort::predictions(model.facts, output)) {
    std::cout << each.class_name << " " << each.probability << "\n";
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}

// Prints the learning rates of schedules. Each line of standard input is one schedule, in fields between
// tabs: the number of steps, settings KEY=VALUE, and for schedule.name=plateau a last field `losses` of
// numbers between blanks, of which each is known after its step. The answer is a line for each step: learning
// rate and momentum, or -1 for a momentum that stays.

#include "config/keys.h"
#include "config/load.h"
#include "job/make_schedule.h"
#include "update/schedule.h"

#include <cstdlib>
#include <fmt/format.h>
#include <iostream>
#include <sstream>

namespace {

using namespace cohort;

struct Case {
  std::int64_t steps = 0;
  std::vector<std::string> settings{};
  std::vector<double> losses{};
};

Case case_in(const std::string& line) {
  Case read;
  std::istringstream fields(line);
  std::string field;
  std::getline(fields, field, '\t');
  read.steps = std::atoll(field.c_str());
  while (std::getline(fields, field, '\t')) {
    if (!field.starts_with("losses ")) {
      read.settings.push_back(field);
      continue;
    }
    std::istringstream numbers(field.substr(7));
    for (std::string loss; numbers >> loss;) read.losses.push_back(std::strtod(loss.c_str(), nullptr));
  }
  return read;
}

void print_rates(const Case& wanted) {
  const auto keys = config::make_keys();
  const Config config =
      value_or_throw(config::load(keys, {.text = "", .file_name = "", .overrides = wanted.settings})).config;
  const LearningRateSchedule schedule = job::make_learning_rate_schedule(config.schedule, wanted.steps);
  value_or_throw(check_schedule(schedule));
  const auto* const plateau = std::get_if<learning_rate::Plateau>(&schedule.curve);
  PlateauState state;
  for (std::int64_t step = 0; step < wanted.steps; ++step) {
    const double rate = learning_rate_at(schedule, *config.optimizer.learning_rate, step, state);
    std::cout << fmt::format("{} {}\n", rate, momentum_at(schedule, step).value_or(-1));
    if (plateau != nullptr)
      state = after_loss(*plateau, state, wanted.losses.at(static_cast<std::size_t>(step)));
  }
  std::cout << std::flush;
}

}  // namespace

int main() try {
  for (std::string line; std::getline(std::cin, line);) print_rates(case_in(line));
  return 0;
} catch (const cohort::Error& error) {
  std::cerr << error.text() << "\n";
  return 1;
}

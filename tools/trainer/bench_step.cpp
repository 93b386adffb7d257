#include "bench_step.h"

#include "base/result.h"
#include "launch/variable_reader.h"
#include "measure/contender.h"
#include "measure/line_socket.h"
#include "measure/protocol.h"
#include "train/settings.h"

#include <chrono>
#include <fmt/format.h>

namespace cohort::tool {
namespace {

std::string controller_name() {
  const auto environment = own_environment();
  const auto found = environment.find(measure::kControlVariable);
  if (found != environment.end()) return found->second;
  throw UsageError(UsageError(fmt::format("{} is not set", measure::kControlVariable))
                       .with_remedy("Use `cohort bench step`, which sets it and starts this program."));
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

measure::Times make_steps(Context& context, StepWay& way, std::uint32_t steps) {
  measure::Times times;
  for (std::uint32_t i = 0; i < steps; ++i) {
    context.barrier();
    measure::Interval& interval = times.intervals.emplace_back();
    interval.start_ns = now_ns();
    way.step();
    interval.end_ns = now_ns();
  }
  return times;
}

std::string answer_to(const std::string& line, Context& context, StepWay& way) {
  const auto command = measure::StepCommand::decode(line);
  if (!command) return measure::Unsupported{command.error().text()}.encode();
  try {
    return make_steps(context, way, command->steps).encode();
  } catch (const Error& error) {
    return measure::Failed{error.text()}.encode();
  } catch (const std::exception& error) {
    return measure::Failed{error.what()}.encode();
  }
}

}  // namespace

void serve_bench_steps(const BenchStepOrder& order) {
  const std::string name = controller_name();
  train::settle_in(1);
  Context context;
  const auto way = make_step_way(context, order);
  measure::LineSocket controller = value_or_throw(measure::connect_lines(name));
  value_or_throw(measure::serve_lines(
      controller, {.group = order.group, .rank = context.rank(), .ranks = context.size()},
      [&](const std::string& line) { return answer_to(line, context, *way); }));
}

}  // namespace cohort::tool

#include "observe/recent_steps.h"

namespace cohort::observe {
namespace {

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

RecentSteps::Times& RecentSteps::Times::operator+=(const Times& other) {
  samples += other.samples;
  seconds += other.seconds;
  communication_seconds += other.communication_seconds;
  stall_seconds += other.stall_seconds;
  return *this;
}

void RecentSteps::add(const StepReport& record) {
  steps_.push_back({.samples = static_cast<double>(record.samples),
                    .seconds = record.seconds,
                    .communication_seconds = record.communication_seconds,
                    .stall_seconds = record.stall_seconds});
  seconds_ += record.seconds;
  while (steps_.size() > 1 && seconds_ > window_seconds_) {
    seconds_ -= steps_.front().seconds;
    steps_.pop_front();
  }
}

RecentSteps::Times RecentSteps::sum() const {
  Times total;
  for (const Times& step : steps_) total += step;
  return total;
}

double RecentSteps::samples_per_second() const {
  const Times total = sum();
  return ratio(total.samples, total.seconds);
}

double RecentSteps::seconds_per_step() const {
  return ratio(sum().seconds, static_cast<double>(steps_.size()));
}

double RecentSteps::communication_share() const {
  const Times total = sum();
  return ratio(total.communication_seconds, total.seconds);
}

double RecentSteps::stall_share() const {
  const Times total = sum();
  return ratio(total.stall_seconds, total.seconds);
}

}  // namespace cohort::observe

#include "train/sliced_solver.h"

#include "layout/slice.h"
#include "solve/gauss_newton.h"
#include "solve/lbfgs.h"
#include "train/evaluator.h"
#include <cohort/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace cohort::train {
namespace {

using solve::Minimizer;

std::unique_ptr<Minimizer> method_of(const SolverSettings& settings, std::vector<solve::Penalty> penalties,
                                     solve::Ranks& ranks, ConstNumbers start) {
  if (settings.kind == SolverKind::kGaussNewton) {
    return std::make_unique<solve::GaussNewton>(settings, std::move(penalties), ranks, start);
  }
  return std::make_unique<solve::Lbfgs>(settings, std::move(penalties), ranks, start);
}

[[noreturn]] void refuse_first_point(double loss) {
  raise(Error(ErrorCode::kDiverged,
              fmt::format("the loss at the first point of the solver is {}, or its gradient is not finite",
                          loss))
            .with_remedy("Look for bad samples, or begin with smaller parameters."));
}

/// Adds the time that it lives.
class Stopwatch {
 public:
  explicit Stopwatch(std::chrono::nanoseconds& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::steady_clock::now() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::chrono::nanoseconds& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

SlicedSolver::SlicedSolver(Communicator& group, std::vector<NamedTensor> parameters,
                           const SolverSettings& settings, const std::vector<ParameterPenalty>& penalties)
    : group_(group),
      ranks_(group),
      vector_(std::move(parameters), group.rank(), group.size()),
      memory_(vector_.own().count, vector_.dtype()) {
  vector_.read();
  method_ = method_of(settings, vector_.penalties(penalties), ranks_, vector_.own());
  place_ = method_->moves();
}

SolverReport SlicedSolver::iterate(ObjectiveOfRank& objective, std::int64_t max_iterations) {
  wanted_ = {};
  const solve::Problem problem{
      .evaluate = [&](ConstNumbers point, Numbers gradient) -> Result<double> {
        go_to(point, objective);
        return evaluate(objective, gradient);
      },
      .multiply = [&](ConstNumbers point, ConstNumbers vector, Numbers product) -> Status {
        go_to(point, objective);
        multiply(objective, vector, product);
        return {};
      }};
  const SolverReport report = value_or_throw(solve::minimize(*method_, problem, max_iterations));
  go_to(method_->point(), objective);
  if (report.end == SolverEnd::kNotFinite && report.iterations == 0) refuse_first_point(report.loss);
  return report;
}

// All ranks decide alike: the number of moves is the same on each.
void SlicedSolver::go_to(ConstNumbers point, ObjectiveOfRank& objective) {
  if (place_ == method_->moves()) return;
  run(all_gather(point, vector_.all()));
  vector_.write();
  objective.moved();
  place_ = method_->moves();
}

double SlicedSolver::evaluate(ObjectiveOfRank& objective, Numbers gradient) {
  vector_.clear_sum();
  const LossOfRank mine = objective.evaluate(vector_);
  std::array<ExactSum, 2> sums{};
  sums[0].add(mine.loss);
  sums[1].add(mine.weight);
  std::array<double, 2> wants{mine.wants_to_stop, mine.wants_to_save};
  {
    const Stopwatch stopwatch(waited_);
    value_or_throw(ranks_.combine(sums, wants));
  }
  wanted_.wants_to_stop = std::max(wanted_.wants_to_stop, wants[0]);
  wanted_.wants_to_save = std::max(wanted_.wants_to_save, wants[1]);
  weight_ = sums[1].value();
  check_weight(group_, weight_, "of the data set");
  sum_over_ranks(gradient);
  return sums[0].value() / weight_;
}

void SlicedSolver::multiply(ObjectiveOfRank& objective, ConstNumbers vector, Numbers product) {
  run(all_gather(vector, vector_.all()));
  vector_.clear_sum();
  objective.multiply(vector_.views(), vector_);
  sum_over_ranks(product);
}

void SlicedSolver::sum_over_ranks(Numbers to) {
  vector_.read_sum();
  run(reduce_scatter(vector_.all(), to));
  solve::combine(std::array{solve::Term{1 / weight_, to}}, to);
}

void SlicedSolver::run(const Call& call) {
  const Stopwatch stopwatch(waited_);
  value_or_throw(group_.run(call));
}

void SlicedSolver::visit(const StateVisitor& visitor) {
  method_->visit_vectors(
      [&](const std::string& name, Numbers slice) { vector_.visit(name, slice, visitor); });
  const auto visit_numbers = [&](const std::string& name, Numbers numbers) {
    visitor({.name = "solver/" + name,
             .dtype = numbers.dtype,
             .shape = {numbers.count},
             .mine = whole({numbers.count}),
             .bytes = {numbers.data, numbers.size_bytes()}});
  };
  method_->visit_numbers(visit_numbers);
  visit_numbers("weight", std::span(&weight_, 1));
}

void SlicedSolver::take_parameters() {
  vector_.read();
  method_->set_point(vector_.own());
  place_ = method_->moves();
}

void SlicedSolver::note_changes() {
  vector_.read();
  const ConstNumbers now = vector_.own(), point = method_->point();
  has_changes_ = has_changes_ || std::memcmp(now.data, point.data, now.size_bytes()) != 0;
}

void SlicedSolver::notice_changes() {
  note_changes();
  std::array<double, 1> changed{has_changes_ ? 1.0 : 0.0};
  value_or_throw(ranks_.combine({}, changed));
  has_changes_ = false;
  if (changed[0] == 0) return;
  method_->begin_anew(vector_.own());
  place_ = method_->moves();
}

}  // namespace cohort::train

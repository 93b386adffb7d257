#pragma once

namespace cohort::solve {

/// A function of one variable, the length of a step, at one place.
struct Trial {
  double step = 0;
  double value = 0;
  double slope = 0;
};

struct SearchLimits {
  int evaluations = 25;  ///< one more if the last is not the best
  double noise = 0;      ///< rounding error of a value, relative to its amount
};

/// A way to find the length of a step, from values that the caller computes at step() and tells, until the
/// state is another one than kTry.
///
/// Threads: one at a time.
class StepSearch {
 public:
  enum class State {
    kTry,        ///< tell() the value at step()
    kAccepted,   ///< step() was told last, and is accepted
    kFailed,     ///< no step is
    kUnbounded,  ///< nor is there a lowest
  };

  virtual ~StepSearch() = default;
  virtual double step() const = 0;
  virtual State state() const = 0;
  /// The value at step(); the slope there, or for Backtracking the fall that the gradient at the start
  /// promises.
  virtual void tell(double value, double slope) = 0;
};

/// Finds the length of a step by halving it until the value has fallen by 10⁻⁴ of the promised fall: for a
/// path with corners, whose slope means nothing.
class Backtracking final : public StepSearch {
 public:
  Backtracking(double start_value, double first_step, SearchLimits limits)
      : start_value_(start_value), limits_(limits), now_(first_step) {}

  double step() const override { return now_; }
  State state() const override { return state_; }
  void tell(double value, double promised_fall) override;

 private:
  const double start_value_;
  const SearchLimits limits_;
  State state_ = State::kTry;
  double now_;
  int num_trials_ = 0;
};

/// Accepts the first step, wherever it leads, unless the value there is NaN or infinite.
class FixedStep final : public StepSearch {
 public:
  explicit FixedStep(double step) : step_(step) {}

  double step() const override { return step_; }
  State state() const override { return state_; }
  void tell(double value, double slope) override;

 private:
  const double step_;
  State state_ = State::kTry;
};

}  // namespace cohort::solve

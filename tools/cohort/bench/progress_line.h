#pragma once

#include <string>

namespace cohort::tool {

/// A line on the terminal that says what is measured, and is gone at the end. Without a terminal it says
/// nothing.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void say(const std::string& text) const;

 private:
  const bool shown_;
};

}  // namespace cohort::tool

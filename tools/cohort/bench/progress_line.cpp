#include "bench/progress_line.h"

#include <iostream>
#include <unistd.h>

namespace cohort::tool {
namespace {

constexpr const char* kClearLine = "\r\033[K";

}  // namespace

ProgressLine::ProgressLine() : shown_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::cerr << kClearLine << std::flush;
}

void ProgressLine::say(const std::string& text) const {
  if (shown_) std::cerr << kClearLine << text << std::flush;
}

}  // namespace cohort::tool

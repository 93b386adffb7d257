#pragma once

#include <cohort/context.h>
#include <cohort/error.h>

#include <cstdio>
#include <exception>
#include <functional>

namespace cohort {

/// The main() of a rank: joins the job, runs `body`, and reports a failure on standard error, as it does with
/// warnings of the library.
///
///     int main() { return cohort::run([](cohort::Context& context) {
///       …
///       return 0;
///     }); }
///
/// Returns the exit code: that of the body; after an exception 2 for a UsageError, else 1. The other ranks
/// get an error with the text of the exception.
inline int run(const std::function<int(Context&)>& body, ContextOptions options = {}) {
  DescriptorSink standard_error(2);
  if (options.log == nullptr) options.log = &standard_error;
  const auto report = [](const std::string& text) { std::fputs((text + "\n").c_str(), stderr); };
  try {
    Context context(options);
    try {
      return body(context);
    } catch (const std::exception& error) {
      context.abort(error.what());
      throw;
    }
  } catch (const UsageError& error) {
    report(error.text());
    return 2;
  } catch (const Error& error) {
    report(error.text());
    return 1;
  } catch (const std::exception& error) {
    report(error.what());
    return 1;
  }
}

}  // namespace cohort

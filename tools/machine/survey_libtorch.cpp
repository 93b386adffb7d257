#include "machine/survey_libtorch.h"

#include "machine/kernel_text.h"

#include <charconv>
#include <cmath>
#include <map>

namespace cohort::machine {
namespace {

constexpr std::string_view kKeys[] = {"version", "threads", "capability", "folder", "matmul_ms", "load_ms"};
constexpr int kMostThreads = 1 << 16;

using Lines = std::map<std::string_view, std::string_view>;

bool is_key(std::string_view word) {
  for (const std::string_view key : kKeys) {
    if (key == word) return true;
  }
  return false;
}

Error broken(std::string message) {
  return Error(ErrorCode::kCorrupt, std::move(message));
}

Result<Lines> parse_lines(std::string_view text) {
  Lines lines;
  for (const std::string_view line : split(trimmed(text), '\n')) {
    const auto blank = line.find(' ');
    const std::string_view key = line.substr(0, blank);
    const std::string_view value = blank == std::string_view::npos ? "" : trimmed(line.substr(blank));
    if (!is_key(key) || value.empty()) {
      return broken(fmt::format("the line '{}' is not a known key and its value", line));
    }
    if (!lines.emplace(key, value).second) return broken(fmt::format("the key '{}' occurs twice", key));
  }
  for (const std::string_view key : kKeys) {
    if (!lines.contains(key)) return broken(fmt::format("the key '{}' is missing", key));
  }
  return lines;
}

Result<double> parse_milliseconds(std::string_view key, std::string_view text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || !std::isfinite(number) || number < 0) {
    return broken(fmt::format("'{}' is '{}', expected a time in ms", key, text));
  }
  return number;
}

Result<int> parse_threads(std::string_view text) {
  const Result<std::uint64_t> count = parse_count(text);
  if (!count || *count == 0 || *count > kMostThreads) {
    return broken(fmt::format("'threads' is '{}', expected a number of threads", text));
  }
  return static_cast<int>(*count);
}

// The last line that is not empty: loaders and runtimes print the reason there.
std::string_view last_words(std::string_view text) {
  return trimmed(split(trimmed(text), '\n').back());
}

Error crash(const ProgramOutput& output) {
  const std::string end = fmt::format("ended with code {}", output.exit_code);
  const std::string_view reason = last_words(output.err);
  return Error(ErrorCode::kUnsupported,
               reason.empty() ? "the probe " + end : fmt::format("the probe {}: {}", end, reason));
}

}  // namespace

std::optional<std::pair<int, int>> release_of(std::string_view version) {
  std::pair<int, int> release;
  const char* const end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, release.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, release.second);
  if (second.ec != std::errc() || release.first < 0 || release.second < 0) return std::nullopt;
  return release;
}

Result<Libtorch> parse_probe(std::string_view text) {
  COHORT_ASSIGN_OR_RETURN(const Lines lines, parse_lines(text));
  Libtorch libtorch;
  libtorch.version = lines.at("version");
  libtorch.capability = lines.at("capability");
  libtorch.folder = lines.at("folder");
  if (!release_of(libtorch.version)) {
    return broken(fmt::format("'version' is '{}', expected a version such as 2.13.0", libtorch.version));
  }
  COHORT_ASSIGN_OR_RETURN(libtorch.threads, parse_threads(lines.at("threads")));
  COHORT_ASSIGN_OR_RETURN(libtorch.matmul_ms, parse_milliseconds("matmul_ms", lines.at("matmul_ms")));
  COHORT_ASSIGN_OR_RETURN(libtorch.load_ms, parse_milliseconds("load_ms", lines.at("load_ms")));
  return libtorch;
}

Fact<Libtorch> survey_libtorch(const RunProgram& run, const std::string& probe,
                               std::chrono::nanoseconds limit) {
  const Result<ProgramOutput> output = run({probe}, limit);
  if (!output) return output.error().within(fmt::format("cannot run the probe '{}'", probe));
  if (output->exit_code != 0) return crash(*output);
  return parse_probe(output->out).within("cannot parse the output of the probe");
}

}  // namespace cohort::machine

#include "measure/protocol.h"

#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace cohort::measure {
namespace {

Error not_understood(std::string_view line, std::string_view wanted) {
  constexpr std::size_t kShownBytes = 80;
  return Error(ErrorCode::kCorrupt,
               fmt::format("'{}' is not understood; expected {}", line.substr(0, kShownBytes), wanted));
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto space = line.find(' ');
    if (space != 0) words.push_back(line.substr(0, space));
    if (space == std::string_view::npos) break;
    line.remove_prefix(space + 1);
  }
  return words;
}

template <class Number>
bool read_number(std::string_view word, Number lowest, Number highest, Number& number) {
  const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  return failure == std::errc() && end == word.data() + word.size() && number >= lowest && number <= highest;
}

constexpr int kMostRanks = 1 << 16;
constexpr std::size_t kMostElements = std::size_t{1} << 34;

bool read_interval(std::string_view word, Interval& interval) {
  constexpr std::int64_t kLatest = INT64_MAX;
  const auto colon = word.find(':');
  if (colon == std::string_view::npos) return false;
  return read_number<std::int64_t>(word.substr(0, colon), 0, kLatest, interval.start_ns) &&
         read_number<std::int64_t>(word.substr(colon + 1), interval.start_ns, kLatest, interval.end_ns);
}

// The reason on one line.
std::string flat(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  constexpr std::size_t kLongestReasonBytes = 4096;
  if (text.size() > kLongestReasonBytes) text.resize(kLongestReasonBytes);
  return text;
}

}  // namespace

std::string Hello::encode() const {
  return fmt::format("hello {} {} {}", group, rank, ranks);
}

Result<Hello> Hello::decode(std::string_view line) {
  const auto words = words_of(line);
  Hello hello;
  if (words.size() != 4 || words[0] != "hello" || !read_number(words[3], 1, kMostRanks, hello.ranks) ||
      !read_number(words[2], 0, hello.ranks - 1, hello.rank)) {
    return not_understood(line, "a greeting: 'hello GROUP RANK RANKS'");
  }
  hello.group = words[1];
  return hello;
}

std::string RunCommand::encode() const {
  return fmt::format("run {} {} {} {} {} {}", name(operation), kind, elements, iterations, batch, salt);
}

Result<RunCommand> RunCommand::decode(std::string_view line) {
  const auto words = words_of(line);
  RunCommand command;
  const auto operation = words.size() > 1 ? bench_operation_named(words[1]) : std::nullopt;
  if (words.size() != 7 || words[0] != "run" || !operation ||
      !read_number<std::size_t>(words[3], 0, kMostElements, command.elements) ||
      !read_number<std::uint32_t>(words[4], 1, kMostIterations, command.iterations) ||
      !read_number<std::uint32_t>(words[5], 1, kLargestBatch, command.batch) ||
      !read_number<std::uint64_t>(words[6], 0, UINT64_MAX, command.salt)) {
    return not_understood(line, "a command: 'run OPERATION KIND ELEMENTS ITERATIONS BATCH SALT'");
  }
  command.operation = *operation;
  command.kind = words[2];
  return command;
}

std::string StepCommand::encode() const {
  return fmt::format("steps {}", steps);
}

Result<StepCommand> StepCommand::decode(std::string_view line) {
  const auto words = words_of(line);
  StepCommand command;
  if (words.size() != 2 || words[0] != "steps" ||
      !read_number<std::uint32_t>(words[1], 1, kMostIterations, command.steps)) {
    return not_understood(line, "a command: 'steps N'");
  }
  return command;
}

std::string StateCommand::encode() const {
  return fmt::format("state {} {}", work, salt);
}

Result<StateCommand> StateCommand::decode(std::string_view line) {
  const auto words = words_of(line);
  StateCommand command;
  if (words.size() != 3 || words[0] != "state" ||
      !read_number<std::uint64_t>(words[2], 0, std::numeric_limits<std::uint64_t>::max(), command.salt)) {
    return not_understood(line, "a command: 'state WORK SALT'");
  }
  command.work = words[1];
  return command;
}

std::string Times::encode() const {
  std::string line = "times";
  for (const Interval& interval : intervals) {
    fmt::format_to(std::back_inserter(line), " {}:{}", interval.start_ns, interval.end_ns);
  }
  return line;
}

std::string Failed::encode() const {
  return "failed " + flat(reason);
}

std::string Unsupported::encode() const {
  return "unsupported " + flat(reason);
}

Result<Answer> decode_answer(std::string_view line) {
  const auto space = line.find(' ');
  const std::string_view first = line.substr(0, space);
  const std::string_view rest = space == std::string_view::npos ? "" : line.substr(space + 1);
  if (first == "failed") return Answer(Failed{std::string(rest)});
  if (first == "unsupported") return Answer(Unsupported{std::string(rest)});
  const std::string_view wanted = "an answer: 'times START:END …', 'failed REASON' or 'unsupported REASON'";
  if (first != "times") return not_understood(line, wanted);
  Times times;
  for (const std::string_view word : words_of(rest)) {
    if (!read_interval(word, times.intervals.emplace_back())) return not_understood(word, "START:END");
  }
  return Answer(std::move(times));
}

}  // namespace cohort::measure

#include "supervise/agent_wire.h"

#include "base/byte_stream.h"

#include <cstring>
#include <fmt/format.h>

namespace cohort::supervise {
namespace {

constexpr std::size_t kHeadBytes = 5;
constexpr std::uint32_t kLongestFrame = std::uint32_t{64} << 20;
constexpr std::uint32_t kMostWords = 1u << 20;
constexpr int kNothing = -1;

Error corrupt(const char* what, std::size_t size_bytes) {
  return Error(ErrorCode::kCorrupt,
               fmt::format("corrupt {} of {} bytes: its fields do not fit its length", what, size_bytes));
}

void put(ByteWriter& writer, const std::optional<int>& number) {
  writer.number(static_cast<std::int32_t>(number.value_or(kNothing)));
}

std::optional<int> optional_number(ByteReader& reader) {
  const auto number = reader.number<std::int32_t>();
  if (number == kNothing) return std::nullopt;
  return number;
}

void put(ByteWriter& writer, const std::deque<std::string>& lines) {
  writer.number(static_cast<std::uint32_t>(lines.size()));
  for (const std::string& line : lines) writer.text(line);
}

std::deque<std::string> lines_in(ByteReader& reader) {
  std::deque<std::string> lines;
  for (auto left = reader.number<std::uint32_t>(); left > 0 && reader.is_fine(); --left) {
    lines.push_back(reader.text());
  }
  return lines;
}

void put(ByteWriter& writer, const RankOutcome& rank) {
  put(writer, rank.status ? rank.status->code : std::nullopt);
  put(writer, rank.status ? rank.status->signal : std::nullopt);
  writer.number(static_cast<std::uint8_t>(rank.was_stopped));
  put(writer, rank.last_output);
  put(writer, rank.last_error_output);
}

RankOutcome rank_outcome(ByteReader& reader) {
  RankOutcome rank;
  const ExitStatus status{optional_number(reader), optional_number(reader)};
  if (status.code || status.signal) rank.status = status;
  rank.was_stopped = reader.number<std::uint8_t>() != 0;
  rank.last_output = lines_in(reader);
  rank.last_error_output = lines_in(reader);
  return rank;
}

}  // namespace

std::string agent_greeting(std::string_view version) {
  return fmt::format("cohort-agent {}\n", version);
}

std::vector<std::byte> AgentPlan::encode() const {
  ByteWriter writer;
  writer.number(static_cast<std::uint32_t>(argv.size()));
  for (const std::string& word : argv) writer.text(word);
  writer.text(directory);
  writer.number(static_cast<std::uint32_t>(environment.size()));
  for (const auto& [name, value] : environment) writer.text(name).text(value);
  writer.number<std::int32_t>(ranks).number<std::int32_t>(first_rank).number<std::int32_t>(world);
  writer.text(rendezvous).text(key).number(static_cast<std::uint8_t>(is_pinned));
  writer.number(static_cast<std::int64_t>(grace.count()));
  return writer.take();
}

Result<AgentPlan> AgentPlan::decode(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  AgentPlan plan;
  const auto num_words = reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < std::min(num_words, kMostWords) && reader.is_fine(); ++i) {
    plan.argv.push_back(reader.text());
  }
  plan.directory = reader.text();
  const auto num_variables = reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < std::min(num_variables, kMostWords) && reader.is_fine(); ++i) {
    const std::string name = reader.text();
    plan.environment[name] = reader.text();
  }
  plan.ranks = reader.number<std::int32_t>();
  plan.first_rank = reader.number<std::int32_t>();
  plan.world = reader.number<std::int32_t>();
  plan.rendezvous = reader.text();
  plan.key = reader.text();
  plan.is_pinned = reader.number<std::uint8_t>() != 0;
  plan.grace = std::chrono::nanoseconds(reader.number<std::int64_t>());
  if (!reader.is_fine() || !reader.is_at_end() || plan.ranks < 1) return corrupt("plan", bytes.size());
  return plan;
}

std::vector<std::byte> OutputPiece::encode() const {
  return ByteWriter().number<std::int32_t>(rank).number(static_cast<std::uint8_t>(stream)).text(bytes).take();
}

Result<OutputPiece> OutputPiece::decode(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  OutputPiece piece;
  piece.rank = reader.number<std::int32_t>();
  const auto stream = reader.number<std::uint8_t>();
  piece.bytes = reader.text(kLongestFrame);
  if (!reader.is_fine() || stream > 1) return corrupt("output of a rank", bytes.size());
  piece.stream = static_cast<Stream>(stream);
  return piece;
}

std::vector<std::byte> encode_outcome(const JobOutcome& outcome) {
  ByteWriter writer;
  writer.number(static_cast<std::uint8_t>(outcome.end));
  put(writer, outcome.first_failed);
  put(writer, outcome.interrupted_by);
  writer.number(static_cast<std::uint32_t>(outcome.ranks.size()));
  for (const RankOutcome& rank : outcome.ranks) put(writer, rank);
  return writer.take();
}

Result<JobOutcome> decode_outcome(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  JobOutcome outcome;
  const auto end = reader.number<std::uint8_t>();
  outcome.first_failed = optional_number(reader);
  outcome.interrupted_by = optional_number(reader);
  for (auto left = reader.number<std::uint32_t>(); left > 0 && reader.is_fine(); --left) {
    outcome.ranks.push_back(rank_outcome(reader));
  }
  if (!reader.is_fine() || end > static_cast<std::uint8_t>(JobEnd::kHostLost)) {
    return corrupt("outcome", bytes.size());
  }
  outcome.end = static_cast<JobEnd>(end);
  return outcome;
}

std::vector<std::byte> encode_number(int number) {
  return ByteWriter().number<std::int32_t>(number).take();
}

Result<int> decode_number(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto number = reader.number<std::int32_t>();
  if (!reader.is_fine()) return corrupt("number", bytes.size());
  return number;
}

std::vector<std::byte> encode_error(const Error& error) {
  return ByteWriter().number(static_cast<std::uint32_t>(error.code())).text(error.text()).take();
}

Error decode_error(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto code = reader.number<std::uint32_t>();
  const std::string text = reader.text();
  if (!reader.is_fine() || code > static_cast<std::uint32_t>(ErrorCode::kIo)) {
    return corrupt("error", bytes.size());
  }
  return Error(static_cast<ErrorCode>(code), text);
}

std::string framed(AgentFrame kind, std::span<const std::byte> content) {
  const auto length = static_cast<std::uint32_t>(content.size());
  std::string frame(kHeadBytes, '\0');
  frame[0] = static_cast<char>(kind);
  std::memcpy(frame.data() + 1, &length, sizeof length);
  frame.append(reinterpret_cast<const char*>(content.data()), content.size());
  return frame;
}

Result<std::optional<FrameCutter::Frame>> FrameCutter::next() {
  if (rest_.size() < kHeadBytes) return std::optional<Frame>();
  std::uint32_t length = 0;
  std::memcpy(&length, rest_.data() + 1, sizeof length);
  const auto kind = static_cast<AgentFrame>(rest_[0]);
  if (kind < AgentFrame::kPlan || kind > AgentFrame::kFailure || length > kLongestFrame) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("corrupt frame: kind {}, expected 1 to 6; length {}, expected at most {}",
                             static_cast<int>(kind), length, kLongestFrame));
  }
  if (rest_.size() < kHeadBytes + length) return std::optional<Frame>();
  const auto* first = reinterpret_cast<const std::byte*>(rest_.data()) + kHeadBytes;
  Frame frame{kind, std::vector<std::byte>(first, first + length)};
  rest_.erase(0, kHeadBytes + length);
  return std::optional(std::move(frame));
}

}  // namespace cohort::supervise

#include "supervise/agent_wire.h"

#include "base/byte_stream.h"
#include "base/error_codes.h"

#include <cstring>
#include <fmt/format.h>
#include <limits>

namespace cohort::supervise {
namespace {

constexpr std::size_t kHeadBytes = 5;
constexpr std::uint32_t kLongestFrame = std::uint32_t{64} << 20;
constexpr std::uint32_t kMostWords = 1u << 20;
constexpr int kNothing = -1;

void put(ByteWriter& writer, const std::optional<int>& number) {
  writer.number(static_cast<std::int32_t>(number.value_or(kNothing)));
}

std::optional<int> optional_number(ByteReader& reader, std::string_view field) {
  const auto number = reader.number<std::int32_t>(field);
  if (number == kNothing) return std::nullopt;
  return number;
}

void put(ByteWriter& writer, const std::deque<std::string>& lines) {
  writer.number(static_cast<std::uint32_t>(lines.size()));
  for (const std::string& line : lines) writer.text(line);
}

std::deque<std::string> lines_in(ByteReader& reader, std::string_view field) {
  std::deque<std::string> lines;
  for (auto left = reader.number<std::uint32_t>(field); left > 0 && reader.is_fine(); --left) {
    lines.push_back(reader.text(field));
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
  const ExitStatus status{optional_number(reader, "exit code"), optional_number(reader, "signal")};
  if (status.code || status.signal) rank.status = status;
  rank.was_stopped = reader.number<std::uint8_t>("stopped") != 0;
  rank.last_output = lines_in(reader, "last output");
  rank.last_error_output = lines_in(reader, "last error output");
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
  writer.number<std::int32_t>(roles.servers).number<std::int32_t>(roles.spares);
  writer.number(static_cast<std::uint8_t>(rank_loss));
  writer.text(rendezvous).text(key).number(static_cast<std::uint8_t>(is_pinned));
  writer.number(static_cast<std::int64_t>(grace.count()));
  return writer.take();
}

Result<AgentPlan> AgentPlan::decode(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  AgentPlan plan;
  const auto num_words = reader.number_within<std::uint32_t>("words", 0, kMostWords);
  for (std::uint32_t i = 0; i < num_words && reader.is_fine(); ++i) plan.argv.push_back(reader.text("word"));
  plan.directory = reader.text("directory");
  const auto num_variables = reader.number_within<std::uint32_t>("variables", 0, kMostWords);
  for (std::uint32_t i = 0; i < num_variables && reader.is_fine(); ++i) {
    const std::string name = reader.text("name of a variable");
    plan.environment[name] = reader.text("value of a variable");
  }
  plan.ranks = reader.number_within<std::int32_t>("ranks", 1, std::numeric_limits<std::int32_t>::max());
  plan.first_rank = reader.number<std::int32_t>("first rank");
  plan.world = reader.number<std::int32_t>("world");
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  plan.roles.servers = reader.number_within<std::int32_t>("servers", 0, kMost);
  plan.roles.spares = reader.number_within<std::int32_t>("spares", 0, kMost);
  plan.rank_loss = static_cast<RankLoss>(
      reader.number_within<std::uint8_t>("rank loss", 0, static_cast<std::uint8_t>(RankLoss::kTell)));
  plan.rendezvous = reader.text("rendezvous");
  plan.key = reader.text("key");
  plan.is_pinned = reader.number<std::uint8_t>("pinned") != 0;
  plan.grace = std::chrono::nanoseconds(reader.number<std::int64_t>("grace"));
  COHORT_RETURN_IF_ERROR(reader.finish("plan"));
  return plan;
}

std::vector<std::byte> OutputPiece::encode() const {
  return ByteWriter().number<std::int32_t>(rank).number(static_cast<std::uint8_t>(stream)).text(bytes).take();
}

Result<OutputPiece> OutputPiece::decode(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  OutputPiece piece;
  piece.rank = reader.number<std::int32_t>("rank");
  piece.stream = static_cast<Stream>(reader.number_within<std::uint8_t>("stream", 0, 1));
  piece.bytes = reader.text("bytes", kLongestFrame);
  COHORT_RETURN_IF_ERROR(reader.finish("output of a rank"));
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
  constexpr auto kLastEnd = static_cast<std::uint8_t>(JobEnd::kHostLost);
  outcome.end = static_cast<JobEnd>(reader.number_within<std::uint8_t>("end", 0, kLastEnd));
  outcome.first_failed = optional_number(reader, "first failed");
  outcome.interrupted_by = optional_number(reader, "interrupted by");
  for (auto left = reader.number<std::uint32_t>("ranks"); left > 0 && reader.is_fine(); --left) {
    outcome.ranks.push_back(rank_outcome(reader));
  }
  COHORT_RETURN_IF_ERROR(reader.finish("outcome"));
  return outcome;
}

std::vector<std::byte> encode_number(int number) {
  return ByteWriter().number<std::int32_t>(number).take();
}

Result<int> decode_number(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto number = reader.number<std::int32_t>("number");
  COHORT_RETURN_IF_ERROR(reader.finish("number"));
  return number;
}

std::vector<std::byte> encode_error(const Error& error) {
  return ByteWriter().number(static_cast<std::uint32_t>(error.code())).text(error.text()).take();
}

Error decode_error(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  constexpr auto kLastCode = static_cast<std::uint32_t>(kLastErrorCode);
  const auto code = reader.number_within<std::uint32_t>("code", 0, kLastCode);
  const std::string text = reader.text("text");
  if (const Status read = reader.finish("error"); !read) return read.error();
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

#include "comm/message_passing/announcement.h"

#include "base/byte_stream.h"
#include "base/checksum.h"
#include "comm/exchange/carried_error.h"
#include "comm/message_passing/plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <tuple>

namespace cohort::comm {
namespace {

// The length of an all_to_all with counts: it differs from every length without counts.
constexpr std::uint64_t kRagged = std::numeric_limits<std::uint64_t>::max();

bool has_root(Operation operation) {
  return operation == Operation::kReduce || operation == Operation::kBroadcast ||
         operation == Operation::kGather || operation == Operation::kScatter;
}

DType shared_dtype(const Call& call) {
  switch (call.operation) {
    case Operation::kBarrier:
      return DType::kU8;
    case Operation::kScatter:
    case Operation::kBroadcast:
    case Operation::kReceive:
      return call.output.dtype;
    default:
      return call.input.dtype;
  }
}

std::uint64_t shared_length(const Call& call) {
  switch (call.operation) {
    case Operation::kAllReduce:
    case Operation::kReduce:
    case Operation::kReduceScatter:
    case Operation::kSend:
      return call.input.count;
    case Operation::kBroadcast:
    case Operation::kAllGather:
    case Operation::kReceive:
      return call.output.count;
    case Operation::kAllToAll:
      return call.input_counts.empty() ? call.input.count : kRagged;
    default:
      return 0;
  }
}

std::uint64_t hash_of(const std::vector<std::size_t>& counts, std::size_t total, int world) {
  ByteWriter writer;
  for (int r = 0; r < world; ++r) {
    writer.number<std::uint64_t>(counts.empty() ? total / static_cast<std::size_t>(world)
                                                : counts[static_cast<std::size_t>(r)]);
  }
  return content_hash(writer.take());
}

std::uint64_t shared_counts_hash(const Call& call, int world) {
  if (call.operation == Operation::kReduceScatter) return hash_of(call.input_counts, call.input.count, world);
  if (call.operation == Operation::kAllGather) return hash_of(call.output_counts, call.output.count, world);
  return 0;
}

}  // namespace

bool Announcement::agrees_with(const Announcement& other) const {
  const auto key = [](const Announcement& a) {
    return std::tie(a.operation, a.dtype, a.reduce_op, a.wire, a.root, a.length, a.counts_hash);
  };
  return key(*this) == key(other);
}

std::uint64_t Announcement::signature() const {
  Announcement agreed = *this;
  agreed.count = 0;
  return content_hash(encode(agreed));
}

std::string Announcement::text() const {
  const Call call{.operation = operation,
                  .input = {nullptr, count, dtype},
                  .output = {nullptr, count, dtype},
                  .reduce_op = reduce_op,
                  .peer = static_cast<int>(root)};
  if (wire == WireDType::kSame) return call.text();
  return fmt::format("{} with {} on the wire", call.text(), name(wire));
}

Announcement announcement_of(const Call& call, int world, WireDType wire) {
  return {.operation = call.operation,
          .dtype = shared_dtype(call),
          .reduce_op = is_reducing(call.operation) ? call.reduce_op : ReduceOp::kSum,
          .wire = wire,
          .root = has_root(call.operation) ? static_cast<std::uint32_t>(call.peer) : 0,
          .length = shared_length(call),
          .counts_hash = shared_counts_hash(call, world),
          .count = std::max(call.input.count, call.output.count)};
}

std::array<std::byte, kAnnouncementBytes> encode(const Announcement& announcement) {
  return ByteWriter()
      .number(static_cast<std::uint8_t>(announcement.operation))
      .number(static_cast<std::uint8_t>(announcement.dtype))
      .number(static_cast<std::uint8_t>(announcement.reduce_op))
      .number(static_cast<std::uint8_t>(announcement.wire))
      .number<std::uint32_t>(announcement.root)
      .number<std::uint64_t>(announcement.length)
      .number<std::uint64_t>(announcement.counts_hash)
      .number<std::uint64_t>(announcement.count)
      .take_array<kAnnouncementBytes>();
}

namespace {

// A number of one byte that is the index of one of `all`.
template <class Value, std::size_t count>
Value one_of(ByteReader& reader, std::string_view field, const Value (&all)[count]) {
  return all[reader.number_within<std::uint8_t>(field, 0, count - 1)];
}

}  // namespace

Result<Announcement> decode_announcement(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  Announcement announcement;
  announcement.operation = one_of(reader, "operation", kAllOperations);
  announcement.dtype = one_of(reader, "dtype", kAllDTypes);
  announcement.reduce_op = one_of(reader, "reduce_op", kAllReduceOps);
  announcement.wire = one_of(reader, "wire", kAllWireDTypes);
  announcement.root = reader.number<std::uint32_t>("root");
  announcement.length = reader.number<std::uint64_t>("length");
  announcement.counts_hash = reader.number<std::uint64_t>("counts_hash");
  announcement.count = reader.number<std::uint64_t>("count");
  COHORT_RETURN_IF_ERROR(reader.finish("announcement"));
  return announcement;
}

std::vector<std::byte> encode(const Notice& notice) {
  return ByteWriter()
      .number(static_cast<std::uint8_t>(notice.kind))
      .number<std::uint64_t>(notice.num_completed)
      .bytes(encode(notice.why))
      .take();
}

Result<Notice> decode_notice(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  constexpr auto kLastKind = static_cast<std::uint8_t>(Notice::Kind::kLeft);
  const auto kind = reader.number_within<std::uint8_t>("kind", 0, kLastKind);
  const auto num_completed = reader.number<std::uint64_t>("num_completed");
  COHORT_RETURN_IF_ERROR(reader.mistake("notice"));
  return Notice{static_cast<Notice::Kind>(kind), num_completed, decode_error(reader.rest())};
}

}  // namespace cohort::comm

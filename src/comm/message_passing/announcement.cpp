#include "comm/message_passing/announcement.h"

#include "base/checksum.h"
#include "comm/exchange/carried_error.h"
#include "comm/message_passing/bytes.h"
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
    writer.put_u64(counts.empty() ? total / static_cast<std::size_t>(world)
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
  ByteWriter writer;
  writer.put_u8(static_cast<std::uint8_t>(announcement.operation));
  writer.put_u8(static_cast<std::uint8_t>(announcement.dtype));
  writer.put_u8(static_cast<std::uint8_t>(announcement.reduce_op));
  writer.put_u8(static_cast<std::uint8_t>(announcement.wire));
  writer.put_u32(announcement.root);
  writer.put_u64(announcement.length);
  writer.put_u64(announcement.counts_hash);
  writer.put_u64(announcement.count);
  const std::vector<std::byte> written = writer.take();
  std::array<std::byte, kAnnouncementBytes> bytes{};
  std::copy(written.begin(), written.end(), bytes.begin());
  return bytes;
}

Result<Announcement> decode_announcement(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const std::uint8_t operation = reader.u8();
  const std::uint8_t dtype = reader.u8();
  const std::uint8_t reduce_op = reader.u8();
  const std::uint8_t wire = reader.u8();
  Announcement announcement{.root = reader.u32()};
  announcement.length = reader.u64();
  announcement.counts_hash = reader.u64();
  announcement.count = reader.u64();
  COHORT_RETURN_IF_ERROR(reader.finish("an announcement"));
  if (operation >= std::size(kAllOperations) || dtype >= std::size(kAllDTypes) ||
      reduce_op >= std::size(kAllReduceOps) || wire >= std::size(kAllWireDTypes)) {
    return Error(
        ErrorCode::kCorrupt,
        fmt::format("corrupt announcement: operation {}, dtype {}, reduce_op {}, wire {}; expected less "
                    "than {}, {}, {}, {}",
                    operation, dtype, reduce_op, wire, std::size(kAllOperations), std::size(kAllDTypes),
                    std::size(kAllReduceOps), std::size(kAllWireDTypes)));
  }
  announcement.operation = kAllOperations[operation];
  announcement.dtype = kAllDTypes[dtype];
  announcement.reduce_op = kAllReduceOps[reduce_op];
  announcement.wire = kAllWireDTypes[wire];
  return announcement;
}

namespace {

constexpr std::size_t kHeadBytes = 9;

}  // namespace

std::vector<std::byte> encode(const Notice& notice) {
  ByteWriter writer;
  writer.put_u8(static_cast<std::uint8_t>(notice.kind));
  writer.put_u64(notice.num_completed);
  std::vector<std::byte> bytes = writer.take();
  const std::vector<std::byte> why = encode(notice.why);
  bytes.insert(bytes.end(), why.begin(), why.end());
  return bytes;
}

Result<Notice> decode_notice(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeadBytes) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("corrupt notice: length is {}, expected {} or more", bytes.size(), kHeadBytes));
  }
  ByteReader reader(bytes.first(kHeadBytes));
  const std::uint8_t kind = reader.u8();
  const std::uint64_t num_completed = reader.u64();
  if (kind > static_cast<std::uint8_t>(Notice::Kind::kLeft)) {
    return Error(ErrorCode::kCorrupt, fmt::format("corrupt notice: field kind is {}, expected 0 or 1", kind));
  }
  return Notice{static_cast<Notice::Kind>(kind), num_completed, decode_error(bytes.subspan(kHeadBytes))};
}

}  // namespace cohort::comm

#include "checkpoint/manifest.h"

#include "base/checksum.h"
#include "checkpoint/json_fields.h"
#include "checkpoint/optimizer_group_json.h"
#include "layout/slice.h"
#include <cohort/version.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace cohort::checkpoint {
namespace {

constexpr std::array<std::string_view, 4> kMerges{"same", "mean", "sum", "max"};
constexpr std::array<std::string_view, 2> kEncodings{"plain", "zstd"};
constexpr std::array<std::string_view, 2> kKinds{"full", "difference"};
constexpr std::string_view kSealStart = "{\"hash\": \"";
constexpr std::string_view kSealEnd = "\",\n";

// Text of users need not be UTF-8: bytes that are not become U+FFFD.
std::string text_of(const OrderedJson& json, int indentation) {
  return json.dump(indentation, ' ', false, OrderedJson::error_handler_t::replace);
}

template <class Enum, std::size_t N>
std::string_view word_of(const std::array<std::string_view, N>& words, Enum value) {
  return words[static_cast<std::size_t>(value)];
}

template <class Enum, std::size_t N>
Enum read_word(JsonFields& fields, std::string_view name, const std::array<std::string_view, N>& words) {
  const std::string text = fields.text(name);
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == text) return static_cast<Enum>(i);
  }
  fields.refuse(name, "a known word", fmt::format("'{}'", text));
  return {};
}

OrderedJson encode_slice(const Slice& slice) {
  OrderedJson boxes = OrderedJson::array();
  for (const Box& box : slice.boxes) boxes.push_back({{"first", box.first}, {"lengths", box.lengths}});
  return {{"boxes", boxes}, {"first", slice.first}, {"count", slice.count}};
}

Shape shape_of(const std::vector<std::int64_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

Slice decode_slice(JsonFields fields) {
  Slice slice{.first = static_cast<std::size_t>(fields.whole_number("first", 0)),
              .count = static_cast<std::size_t>(fields.whole_number("count", 0))};
  fields.each("boxes", [&](JsonFields box) {
    slice.boxes.push_back({shape_of(box.whole_numbers("first")), shape_of(box.whole_numbers("lengths"))});
  });
  return slice;
}

OrderedJson encode_piece(const StoredPiece& stored) {
  OrderedJson json{{"name", stored.piece.name},
                   {"dtype", name(stored.piece.dtype)},
                   {"shape", stored.piece.shape},
                   {"merge", word_of(kMerges, stored.piece.merge)}};
  if (stored.piece.mine != whole(stored.piece.shape)) json["slice"] = encode_slice(stored.piece.mine);
  json["tensor"] = stored.tensor;
  json["encoding"] = word_of(kEncodings, stored.encoding);
  json["first"] = stored.first;
  json["bytes"] = stored.size_bytes;
  std::string hashes;
  for (const std::uint64_t hash : stored.hashes) hashes += hash_text(hash);
  json["hashes"] = hashes;
  return json;
}

// Offsets in bytes of such a tensor fit into 64 bits.
bool is_possible(const Shape& shape) {
  std::uint64_t count = 1;
  for (const std::size_t length : shape) {
    const std::uint64_t factor = std::max<std::uint64_t>(length, 1);
    if (__builtin_mul_overflow(count, factor, &count) || count >> 59 != 0) return false;
  }
  return true;
}

// Frames of zstd are not longer than a 2^15th of their content.
constexpr std::uint64_t kMostCompressed = std::uint64_t{1} << 16;

void check_slice_of(const StoredPiece& stored, JsonFields& fields) {
  if (!is_possible(stored.piece.shape)) return fields.refuse("shape", "fewer than 2^59 elements", "more");
  const Status fits = check_slice(stored.piece.shape, stored.piece.mine);
  if (!fits) return fields.refuse("slice", "a slice of the tensor", fits.error().message());
  const std::size_t most = num_elements(stored.piece.shape);
  if (stored.piece.mine.count <= most) return;
  fields.refuse("slice", fmt::format("at most the {} elements of the tensor", most),
                fmt::format("{} elements", stored.piece.mine.count));
}

// An impossible piece is refused here, so that code behind needs no checks. `first` is where the bytes of the
// piece must begin, since the pieces of a file have no gaps between them.
void check_piece(const StoredPiece& stored, const Shard& shard, std::uint64_t first, JsonFields& fields) {
  if (fields.is_fine()) check_slice_of(stored, fields);
  if (!fields.is_fine()) return;
  if (stored.first != first) {
    fields.refuse("first", fmt::format("{}", first), fmt::format("{}", stored.first));
  }
  const std::uint64_t most = shard.size_bytes - first;
  const std::uint64_t plain = stored.piece.mine.count * size_bytes(stored.piece.dtype);
  if (stored.size_bytes > most) {
    fields.refuse("bytes", fmt::format("at most the {} that are left in the file", most),
                  fmt::format("{}", stored.size_bytes));
  } else if (stored.encoding == Encoding::kPlain && stored.size_bytes != plain) {
    fields.refuse("bytes", fmt::format("{}", plain), fmt::format("{}", stored.size_bytes));
  } else if (plain / kMostCompressed > stored.size_bytes) {
    fields.refuse("bytes", fmt::format("the compressed form of {}", plain),
                  fmt::format("{}", stored.size_bytes));
  }
}

StoredPiece decode_piece(JsonFields fields, const Shard& shard, std::uint64_t first) {
  StoredPiece stored;
  stored.piece.name = fields.text("name");
  const auto dtype = dtype_named(fields.text("dtype"));
  if (!dtype) fields.refuse("dtype", "a type such as f32", "another text");
  stored.piece.dtype = dtype.value_or(DType::kF32);
  stored.piece.shape = shape_of(fields.whole_numbers("shape"));
  stored.piece.merge = read_word<Merge>(fields, "merge", kMerges);
  stored.tensor = fields.text("tensor");
  stored.encoding = read_word<Encoding>(fields, "encoding", kEncodings);
  stored.first = static_cast<std::uint64_t>(fields.whole_number("first", 0));
  stored.size_bytes = static_cast<std::uint64_t>(fields.whole_number("bytes", 0));
  stored.hashes = fields.hashes("hashes", (stored.size_bytes + kBlockBytes - 1) / kBlockBytes);
  if (fields.has("slice")) {
    stored.piece.mine = decode_slice(fields.object("slice"));
  } else if (fields.is_fine() && is_possible(stored.piece.shape)) {
    stored.piece.mine = whole(stored.piece.shape);
  }
  check_piece(stored, shard, first, fields);
  return stored;
}

OrderedJson encode_shard(const Shard& shard) {
  OrderedJson pieces = OrderedJson::array();
  for (const StoredPiece& stored : shard.pieces) pieces.push_back(encode_piece(stored));
  return {{"file", shard.file},
          {"bytes", shard.size_bytes},
          {"hash", hash_text(shard.hash)},
          {"header_bytes", shard.header_bytes},
          {"header_hash", hash_text(shard.header_hash)},
          {"pieces", pieces}};
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

Shard decode_shard(JsonFields fields) {
  Shard shard{.file = fields.text("file"),
              .size_bytes = static_cast<std::uint64_t>(fields.whole_number("bytes", 0)),
              .hash = fields.hash("hash"),
              .header_bytes = static_cast<std::uint64_t>(fields.whole_number("header_bytes", 0)),
              .header_hash = fields.hash("header_hash")};
  if (!is_plain_name(shard.file)) fields.refuse("file", "the name of a file in this folder", "another path");
  if (shard.header_bytes > shard.size_bytes) fields.refuse("header_bytes", "at most bytes", "more");
  std::uint64_t end = shard.header_bytes;
  fields.each("pieces", [&](JsonFields piece) {
    shard.pieces.push_back(decode_piece(std::move(piece), shard, end));
    end += shard.pieces.back().size_bytes;
  });
  if (end != shard.size_bytes) {
    fields.refuse("bytes", fmt::format("{}", end), fmt::format("{}", shard.size_bytes));
  }
  return shard;
}

OrderedJson number_or_null(std::optional<double> number) {
  return number && std::isfinite(*number) ? OrderedJson(*number) : OrderedJson();
}

OrderedJson encode_best(const std::optional<BestEvaluation>& best) {
  if (!best) return nullptr;
  return {{"epoch", best->epoch},
          {"step", best->step},
          {"loss", number_or_null(best->loss)},
          {"accuracy", number_or_null(best->accuracy)}};
}

std::optional<BestEvaluation> decode_best(JsonFields& course) {
  if (course.is_null("best")) return std::nullopt;
  JsonFields fields = course.object("best");
  return BestEvaluation{.epoch = fields.whole_number("epoch", 0),
                        .step = fields.whole_number("step", 0),
                        .loss = fields.number("loss").value_or(std::numeric_limits<double>::infinity()),
                        .accuracy = fields.number("accuracy")};
}

// The whole numbers that a snapshot has if they are not 0.
struct PositionField {
  const char* name;
  std::int64_t state::Position::*number;
};
constexpr PositionField kPositionFields[] = {{"skipped_steps", &state::Position::skipped_steps},
                                             {"growth_tracker", &state::Position::growth_tracker},
                                             {"overflows_in_row", &state::Position::overflows_in_row},
                                             {"f32_stages", &state::Position::f32_stages},
                                             {"f32_until", &state::Position::f32_until}};

// The plateau is left out at its beginning, where most trainings stay.
OrderedJson encode_position(const state::Position& position) {
  OrderedJson json{{"step", position.step},
                   {"epoch", position.epoch},
                   {"step_in_epoch", position.step_in_epoch},
                   {"samples", position.samples},
                   {"evaluations_since_best", position.evaluations_since_best},
                   {"best_loss", number_or_null(position.best_loss)}};
  if (position.loss_scale != 0) json["loss_scale"] = position.loss_scale;
  for (const PositionField& field : kPositionFields) {
    if (position.*field.number != 0) json[field.name] = position.*field.number;
  }
  const PlateauState& plateau = position.plateau;
  if (plateau == PlateauState() && position.epoch_weight == 0) return json;
  json["plateau"] = {{"best", number_or_null(plateau.best)},
                     {"num_bad", plateau.num_bad},
                     {"cooldown_left", plateau.cooldown_left},
                     {"reductions", plateau.reductions},
                     {"epoch_loss", number_or_null(position.epoch_loss)},
                     {"epoch_weight", number_or_null(position.epoch_weight)}};
  return json;
}

state::Position decode_position(JsonFields fields) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  state::Position position{.step = fields.whole_number("step", 0),
                           .epoch = fields.whole_number("epoch", 0),
                           .step_in_epoch = fields.whole_number("step_in_epoch", 0),
                           .samples = fields.whole_number("samples", 0),
                           .evaluations_since_best = fields.whole_number("evaluations_since_best", 0),
                           .best_loss = fields.number("best_loss").value_or(kNone)};
  if (fields.has("loss_scale")) position.loss_scale = fields.number("loss_scale").value_or(0);
  for (const PositionField& field : kPositionFields) {
    if (fields.has(field.name)) position.*field.number = fields.whole_number(field.name, 0);
  }
  if (!fields.has("plateau")) return position;
  JsonFields plateau = fields.object("plateau");
  position.plateau = {.best = plateau.number("best").value_or(kNone),
                      .num_bad = plateau.whole_number("num_bad", 0),
                      .cooldown_left = plateau.whole_number("cooldown_left", 0),
                      .reductions = plateau.whole_number("reductions", 0)};
  position.epoch_loss = plateau.number("epoch_loss").value_or(kNone);
  position.epoch_weight = plateau.number("epoch_weight").value_or(kNone);
  return position;
}

OrderedJson encode_course(const Course& course) {
  const state::Position& position = course.position;
  const Ledger& ledger = course.ledger;
  OrderedJson json{{"position", encode_position(position)},
                   {"ledger",
                    {{"samples", ledger.samples},
                     {"batch_size", ledger.batch_size},
                     {"micro_batches", ledger.micro_batches},
                     {"steps_done", position.step_in_epoch}}},
                   {"loss", number_or_null(course.loss)},
                   {"best", encode_best(course.best)},
                   {"settings", course.settings},
                   {"bucket_order", course.bucket_order},
                   {"config", course.config}};
  if (course.taken_at) json["taken_at"] = *course.taken_at;
  if (!course.optimizer_groups.empty()) json["optimizer_groups"] = encode_groups(course.optimizer_groups);
  return json;
}

Course decode_course(JsonFields fields) {
  Course course;
  course.position = decode_position(fields.object("position"));
  JsonFields ledger = fields.object("ledger");
  course.ledger = {.samples = ledger.whole_number("samples", 0),
                   .batch_size = ledger.whole_number("batch_size", 0),
                   .micro_batches = ledger.whole_number("micro_batches", 0)};
  course.loss = fields.number("loss");
  course.best = decode_best(fields);
  course.settings = fields.texts("settings");
  course.bucket_order = fields.whole_numbers("bucket_order");
  if (fields.has("taken_at")) course.taken_at = fields.whole_number("taken_at", 0);
  course.optimizer_groups = decode_groups(fields, "optimizer_groups");
  course.config = fields.text("config");
  return course;
}

OrderedJson encode_world(const Manifest& manifest) {
  return {{"ranks", manifest.ranks}, {"hosts", manifest.hosts}, {"mesh", manifest.mesh}};
}

void decode_world(JsonFields fields, Manifest& manifest) {
  constexpr std::int64_t kMost = 1 << 24;
  manifest.ranks = static_cast<int>(fields.whole_number("ranks", 1, kMost));
  manifest.hosts = static_cast<int>(fields.whole_number("hosts", 1, kMost));
  JsonFields mesh = fields.object("mesh");
  for (const std::string& axis : mesh.names()) {
    manifest.mesh[axis] = static_cast<int>(mesh.whole_number(axis, 1, kMost));
  }
}

Result<Json> parsed(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return Error(ErrorCode::kCorrupt, "it is not JSON");
  return json;
}

// The text after the first line, whose hash the first line has.
Result<std::string_view> unsealed(std::string_view text) {
  const std::size_t length = kSealStart.size() + 16 + kSealEnd.size();
  if (text.size() < length || !text.starts_with(kSealStart)) {
    return Error(ErrorCode::kCorrupt, fmt::format("field 'hash' is missing in the first line, expected {}",
                                                  "the hash of all bytes after it"));
  }
  const std::string_view rest = text.substr(length);
  const std::string expected =
      fmt::format("{}{}{}", kSealStart, hash_text(content_hash(std::as_bytes(std::span(rest)))), kSealEnd);
  if (text.substr(0, length) == expected) return rest;
  return Error(
      ErrorCode::kCorrupt,
      fmt::format("field 'hash' is '{}', expected '{}' for the {} bytes after it",
                  text.substr(kSealStart.size(), 16), expected.substr(kSealStart.size(), 16), rest.size()));
}

std::vector<Shard> read_shards(JsonFields& fields) {
  std::vector<Shard> shards;
  fields.each("shards", [&](JsonFields shard) { shards.push_back(decode_shard(std::move(shard))); });
  return shards;
}

// The text of a manifest after its first line.
std::string encode_rest(const Manifest& manifest) {
  OrderedJson shards = OrderedJson::array();
  for (const Shard& shard : manifest.shards) shards.push_back(encode_shard(shard));
  const OrderedJson json{{"format", "cohort snapshot"},
                         {"version", manifest.version},
                         {"cohort", manifest.cohort_version},
                         {"kind", word_of(kKinds, manifest.kind)},
                         {"base", manifest.base},
                         {"base_hash", hash_text(manifest.base_hash)},
                         {"world", encode_world(manifest)},
                         {"course", encode_course(manifest.course)},
                         {"shards", shards}};
  return text_of(json, 1).substr(2) + "\n";  // without the opening brace and its line end
}

std::uint64_t hash_of_rest(std::string_view rest) {
  return content_hash(std::as_bytes(std::span(rest)));
}

}  // namespace

std::string encode(const Manifest& manifest) {
  const std::string rest = encode_rest(manifest);
  return fmt::format("{}{}{}{}", kSealStart, hash_text(hash_of_rest(rest)), kSealEnd, rest);
}

std::uint64_t hash_of(const Manifest& manifest) {
  return hash_of_rest(encode_rest(manifest));
}

Result<Manifest> decode_manifest(std::string_view text) {
  COHORT_ASSIGN_OR_RETURN(const std::string_view rest, unsealed(text));
  COHORT_ASSIGN_OR_RETURN(const Json json, parsed("{" + std::string(rest)));
  Status failure;
  JsonFields fields(json, "", failure);
  if (fields.text("format") != "cohort snapshot") {
    fields.refuse("format", "'cohort snapshot'", "another text");
  }
  Manifest manifest{.hash = hash_of_rest(rest)};
  manifest.version = static_cast<int>(fields.whole_number("version", 1, 1 << 20));
  if (failure && manifest.version > kFormatVersion) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("field 'version' is {}, expected at most {}", manifest.version, kFormatVersion))
        .with_remedy("Read the snapshot with the version of Cohort that wrote it, or a later one.");
  }
  manifest.cohort_version = fields.text("cohort");
  manifest.kind = read_word<SnapshotKind>(fields, "kind", kKinds);
  manifest.base = fields.text("base");
  manifest.base_hash = fields.hash("base_hash");
  if (failure && (manifest.kind == SnapshotKind::kDifference) != is_plain_name(manifest.base)) {
    fields.refuse("base", "the name of a snapshot for a difference, else empty", "another text");
  }
  decode_world(fields.object("world"), manifest);
  manifest.course = decode_course(fields.object("course"));
  manifest.shards = read_shards(fields);
  COHORT_RETURN_IF_ERROR(failure);
  return manifest;
}

std::string encode_shards(const std::vector<Shard>& shards) {
  OrderedJson array = OrderedJson::array();
  for (const Shard& shard : shards) array.push_back(encode_shard(shard));
  return text_of({{"shards", array}}, -1);
}

Result<std::vector<Shard>> decode_shards(std::string_view text) {
  COHORT_ASSIGN_OR_RETURN(const Json json, parsed(text));
  Status failure;
  JsonFields fields(json, "", failure);
  std::vector<Shard> shards = read_shards(fields);
  COHORT_RETURN_IF_ERROR(failure);
  return shards;
}

std::uint64_t size_bytes(const Manifest& manifest) {
  std::uint64_t sum = 0;
  for (const Shard& shard : manifest.shards) sum += shard.size_bytes;
  return sum;
}

}  // namespace cohort::checkpoint

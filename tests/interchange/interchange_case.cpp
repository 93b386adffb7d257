// Reads and writes files for against_torch_test.py.
//
//   read FILE                     the tree as JSON; a tensor is {"dtype", "shape", "hex"}
//   copy FROM TO                  the same tree in a new file
//   optimizer FROM TO NAME…       an optimizer's state, as pieces with names of Cohort and back
//   dcp DIRECTORY RULE…           all tensors, put together from their chunks, and all values, as JSON

#include "interchange/dcp.h"
#include "interchange/torch_pieces.h"
#include "interchange/write_torch_file.h"
#include "layout/slice.h"
#include "state/move.h"
#include "storage/local_file_system.h"

#include <iostream>
#include <nlohmann/json.hpp>

namespace cohort::test {
namespace {

using namespace interchange;  // NOLINT: the subject of the program
using Json = nlohmann::ordered_json;

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

std::vector<std::byte> bytes_of(const TorchFile& file, const StoredTensor& tensor) {
  std::vector<std::byte> bytes(num_elements_of(tensor) * size_bytes(tensor.dtype));
  value_or_throw(file.read(tensor, 0, bytes));
  return bytes;
}

Json json_of(const TorchFile& file, const Value& value);

Json items_of(const TorchFile& file, const std::vector<Value>& items) {
  Json json = Json::array();
  for (const Value& item : items) json.push_back(json_of(file, item));
  return json;
}

Json json_of(const TorchFile& file, const Value& value) {
  if (const auto* const it = value.as<bool>()) return *it;
  if (const auto* const it = value.as<std::int64_t>()) return *it;
  if (const auto* const it = value.as<double>()) return *it;
  if (const auto* const it = value.as<std::string>()) return *it;
  if (const auto* const it = value.as<Bytes>()) return {{"bytes", hex(std::as_bytes(std::span(it->bytes)))}};
  if (const auto* const it = value.as<List>()) return items_of(file, it->items);
  if (const auto* const it = value.as<Tuple>()) return {{"tuple", items_of(file, it->items)}};
  if (const auto* const it = value.as<Object>()) return {{"object", it->type}};
  if (const auto* const it = value.as<StoredTensor>()) {
    return {{"dtype", name(it->dtype)}, {"shape", it->shape}, {"hex", hex(bytes_of(file, *it))}};
  }
  if (const auto* const it = value.as<Dict>()) {
    Json json = Json::object();
    for (const auto& [key, each] : it->entries) {
      const auto* const text = key.as<std::string>();
      json[text != nullptr ? *text : std::to_string(*key.as<std::int64_t>())] = json_of(file, each);
    }
    return json;
  }
  return nullptr;
}

// The same tree with tensors of another file.
Value copied(const TorchFile& file, const Value& value, OutgoingTensors& tensors) {
  const auto all = [&](const std::vector<Value>& from) {
    std::vector<Value> to;
    for (const Value& each : from) to.push_back(copied(file, each, tensors));
    return to;
  };
  if (const auto* const it = value.as<List>()) return List{.items = all(it->items)};
  if (const auto* const it = value.as<Tuple>()) return Tuple{.items = all(it->items)};
  if (const auto* const it = value.as<Dict>()) {
    Dict dict{.entries = {}, .kind = it->kind};
    for (const auto& [key, each] : it->entries) dict.add(key, copied(file, each, tensors));
    return dict;
  }
  if (const auto* const it = value.as<StoredTensor>()) {
    return tensors.add(it->dtype, it->shape, [&file, tensor = *it](WritableFile& out) {
      return out.append(bytes_of(file, tensor));
    });
  }
  return value;
}

/// Memory for all tensors that a source has, filled by state::move().
struct Moved {
  explicit Moved(state::PieceSource& source) {
    std::map<std::string, const Piece*> wanted;
    for (const state::HeldPiece& held : source.held()) wanted.emplace(held.piece.name, &held.piece);
    for (const auto& [name, piece] : wanted) {
      memory.emplace_back(num_elements(piece->shape) * size_bytes(piece->dtype));
      pieces.push_back({.name = name,
                        .dtype = piece->dtype,
                        .shape = piece->shape,
                        .mine = whole(piece->shape),
                        .merge = Merge::kSame,
                        .bytes = memory.back()});
    }
    value_or_throw(state::move(pieces, source));
  }
  std::vector<std::vector<std::byte>> memory{};
  std::vector<Piece> pieces{};
};

void rewrite_optimizer(FileSystem& fs, const std::string& from, const std::string& to,
                       const std::vector<std::string>& names) {
  const TorchFile file = value_or_throw(open_torch_file(fs, from));
  const OptimizerState state = value_or_throw(find_optimizer(file.root(), names));
  TorchPieces source(file, {});
  source.add(state);
  const Moved moved(source);
  OutgoingTensors tensors;
  std::vector<NamedTensor> named;
  for (const Piece& piece : moved.pieces) {
    const bool is_step = piece.dtype == DType::kI64 && piece.name.ends_with("/step");
    named.push_back({piece.name, is_step ? tensors.add_step(get_at<std::int64_t>(piece.bytes, 0))
                                         : tensors.add(piece.dtype, piece.shape, piece.bytes)});
    std::cout << piece.name << " " << name(piece.dtype) << "\n";
  }
  const Dict dict = value_or_throw(optimizer_dict(named, names, state.groups));
  value_or_throw(write_torch_file(fs, to, dict, tensors));
}

void print_dcp(FileSystem& fs, const std::string& directory, const std::vector<std::string>& rules) {
  const DcpDirectory dcp = value_or_throw(open_dcp(fs, directory));
  DcpPieces source(dcp, value_or_throw(NameRules::parse(rules)));
  const Moved moved(source);
  Json json{{"tensors", Json::object()}, {"values", Json::object()}};
  for (const Piece& piece : moved.pieces) {
    json["tensors"][piece.name] = {
        {"dtype", name(piece.dtype)}, {"shape", piece.shape}, {"hex", hex(piece.bytes)}};
  }
  for (const std::string& each : dcp.value_names()) {
    const Value value = value_or_throw(dcp.value(each));
    json["values"][each] = value.as<std::int64_t>() ? Json(*value.as<std::int64_t>()) : Json(kind_of(value));
  }
  std::cout << json.dump() << "\n";
}

int run(const std::vector<std::string>& words) {
  LocalFileSystem fs;
  if (words.at(0) == "read") {
    const TorchFile file = value_or_throw(open_torch_file(fs, words.at(1)));
    value_or_throw(file.check());
    std::cout << json_of(file, file.root()).dump() << "\n";
  } else if (words.at(0) == "copy") {
    const TorchFile file = value_or_throw(open_torch_file(fs, words.at(1)));
    OutgoingTensors tensors;
    const Value tree = copied(file, file.root(), tensors);
    value_or_throw(write_torch_file(fs, words.at(2), tree, tensors));
  } else if (words.at(0) == "optimizer") {
    rewrite_optimizer(fs, words.at(1), words.at(2), {words.begin() + 3, words.end()});
  } else {
    print_dcp(fs, words.at(1), {words.begin() + 2, words.end()});
  }
  return 0;
}

}  // namespace
}  // namespace cohort::test

int main(int argc, char** argv) {
  try {
    return cohort::test::run({argv + 1, argv + argc});
  } catch (const cohort::Error& error) {
    std::cerr << name(error.code()) << ": " << error.text() << "\n";
    return 1;
  }
}

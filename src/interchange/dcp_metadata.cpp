#include "interchange/dcp_metadata.h"

#include "interchange/input/printable.h"
#include "interchange/pickle/globals.h"
#include "layout/slice.h"
#include "state/tensor_view.h"

#include <fmt/format.h>

namespace cohort::interchange {
namespace {

/// The key of a chunk or a value in the table of places: its name and its first indices.
using DcpKey = std::pair<std::string, Shape>;
using DcpPlaces = std::map<DcpKey, DcpPlace>;

Error bad_metadata(const std::string& why) {
  return Error(ErrorCode::kCorrupt, fmt::format("the metadata are malformed: {}", why));
}

// The fields of an object of this class; null if it is another one. Modules differ between versions.
const Dict* fields_of(const Value& value, std::string_view type) {
  const Object* const object = value.as<Object>();
  const bool is_it = object != nullptr && object->content.size() == 1 && object->type.ends_with(type) &&
                     object->type[object->type.size() - type.size() - 1] == '.';
  return is_it ? object->content[0].as<Dict>() : nullptr;
}

template <class T>
Result<const T*> field(const Dict& fields, std::string_view name) {
  const Value* const found = fields.find(name);
  const T* const value = found == nullptr ? nullptr : found->as<T>();
  if (value != nullptr) return value;
  return bad_metadata(fmt::format("field {} is {}", name, found == nullptr ? "missing" : kind_of(*found)));
}

Result<std::uint64_t> natural_field(const Dict& fields, std::string_view name) {
  COHORT_ASSIGN_OR_RETURN(const auto* const number, field<std::int64_t>(fields, name));
  if (*number >= 0) return static_cast<std::uint64_t>(*number);
  return bad_metadata(fmt::format("field {} is {}, expected 0 or more", name, *number));
}

Result<Shape> sizes_of(const Tuple& tuple, std::string_view name) {
  Shape sizes;
  for (const Value& item : tuple.items) {
    const auto* const number = item.as<std::int64_t>();
    if (number == nullptr || *number < 0) {
      return bad_metadata(fmt::format("field {} has {}, expected integers from 0 on", name, kind_of(item)));
    }
    sizes.push_back(static_cast<std::size_t>(*number));
  }
  return sizes;
}

Result<Shape> sizes_field(const Dict& fields, std::string_view name) {
  COHORT_ASSIGN_OR_RETURN(const auto* const tuple, field<Tuple>(fields, name));
  return sizes_of(*tuple, name);
}

Status check_file_name(const std::string& name) {
  const bool is_plain = !name.empty() && name != "." && name != ".." &&
                        name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (is_plain) return {};
  return bad_metadata(
      fmt::format("relative_path is '{}', expected a file of the directory", printable(name)));
}

Result<DcpPlace> place_in(const Dict& fields) {
  DcpPlace place;
  COHORT_ASSIGN_OR_RETURN(const auto* const path, field<std::string>(fields, "relative_path"));
  place.file = *path;
  COHORT_RETURN_IF_ERROR(check_file_name(place.file));
  COHORT_ASSIGN_OR_RETURN(place.offset, natural_field(fields, "offset"));
  COHORT_ASSIGN_OR_RETURN(place.size_bytes, natural_field(fields, "length"));
  const Value* const transforms = fields.find("transform_descriptors");
  if (transforms == nullptr || transforms->is_none()) return place;
  return Error(ErrorCode::kUnsupported, "its files are compressed or encrypted by an extension")
      .with_remedy("Save the checkpoint without extensions.");
}

Result<DcpKey> key_in(const Dict& index) {
  COHORT_ASSIGN_OR_RETURN(const auto* const name, field<std::string>(index, "fqn"));
  const Value* const offset = index.find("offset");
  if (offset == nullptr || offset->is_none()) return DcpKey(*name, {});
  COHORT_ASSIGN_OR_RETURN(Shape first, sizes_field(index, "offset"));
  return DcpKey(*name, std::move(first));
}

Result<DcpPlaces> places_in(const Dict& metadata) {
  COHORT_ASSIGN_OR_RETURN(const auto* const table, field<Dict>(metadata, "storage_data"));
  DcpPlaces places;
  for (const auto& [index, info] : table->entries) {
    const Dict* const index_fields = fields_of(index, "MetadataIndex");
    const Dict* const info_fields = fields_of(info, "_StorageInfo");
    if (index_fields == nullptr || info_fields == nullptr) {
      return bad_metadata(fmt::format("storage_data has {} for {}, expected _StorageInfo for MetadataIndex",
                                      kind_of(info), kind_of(index)));
    }
    COHORT_ASSIGN_OR_RETURN(DcpKey key, key_in(*index_fields));
    COHORT_ASSIGN_OR_RETURN(DcpPlace place, place_in(*info_fields));
    places.insert_or_assign(std::move(key), std::move(place));
  }
  return places;
}

Result<DcpPlace> place_of(const DcpPlaces& places, const DcpKey& key) {
  const auto found = places.find(key);
  if (found != places.end()) return found->second;
  return bad_metadata(fmt::format("'{}' has no place in storage_data", printable(key.first)));
}

// `properties` is a tuple that begins with the element type, or a dict with it.
Result<DType> dtype_in(const Dict& tensor) {
  COHORT_ASSIGN_OR_RETURN(const auto* const object, field<Object>(tensor, "properties"));
  const Value* type = nullptr;
  if (object->content.size() == 1) {
    const auto* const tuple = object->content[0].as<Tuple>();
    const auto* const dict = object->content[0].as<Dict>();
    if (tuple != nullptr && !tuple->items.empty()) type = &tuple->items[0];
    if (dict != nullptr) type = dict->find("dtype");
  }
  const Object* const named = type == nullptr ? nullptr : type->as<Object>();
  const std::string full = named == nullptr ? "" : named->type;
  const std::size_t dot = std::min(full.find('.'), full.size());
  const Global* const global =
      find_global(dcp_globals(), full.substr(0, dot), dot < full.size() ? full.substr(dot + 1) : "");
  if (global != nullptr && global->use == GlobalUse::kDType) return global->dtype;
  return bad_metadata("properties have no element type");
}

Result<DcpChunk> chunk_of(const Value& value, const DcpTensor& tensor, const DcpPlaces& places) {
  const Dict* const fields = fields_of(value, "ChunkStorageMetadata");
  if (fields == nullptr) return bad_metadata(fmt::format("a chunk is {}", kind_of(value)));
  DcpChunk chunk;
  COHORT_ASSIGN_OR_RETURN(chunk.box.first, sizes_field(*fields, "offsets"));
  COHORT_ASSIGN_OR_RETURN(chunk.box.lengths, sizes_field(*fields, "sizes"));
  const Slice slice{.boxes = {chunk.box}, .first = 0, .count = 0};
  if (const Status fits = check_slice(tensor.shape, slice); !fits) {
    return bad_metadata(fmt::format("a chunk is not inside its tensor: {}", fits.error().message()));
  }
  COHORT_ASSIGN_OR_RETURN(chunk.place, place_of(places, {tensor.name, chunk.box.first}));
  const std::size_t size = num_elements(chunk.box.lengths);
  if (size <= chunk.place.size_bytes / size_bytes(tensor.dtype)) return chunk;
  return bad_metadata(fmt::format("a chunk has {} elements in {} bytes", size, chunk.place.size_bytes));
}

// Whether the chunks can be all of the tensor: a shape alone must not decide how much memory is used.
Status check_total(const DcpTensor& tensor) {
  const auto size =
      state::bytes_of(tensor.dtype, std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end()));
  std::uint64_t found = 0;
  for (const DcpChunk& chunk : tensor.chunks) {
    found += num_elements(chunk.box.lengths) * size_bytes(tensor.dtype);
  }
  if (size && found >= *size) return {};
  return bad_metadata(fmt::format("chunks have {} bytes, expected {}", found,
                                  size ? std::to_string(*size) : "fewer than 2^63"));
}

Result<DcpTensor> tensor_of(const std::string& name, const Dict& fields, const DcpPlaces& places) {
  DcpTensor tensor{.name = name};
  COHORT_ASSIGN_OR_RETURN(tensor.dtype, dtype_in(fields));
  COHORT_ASSIGN_OR_RETURN(tensor.shape, sizes_field(fields, "size"));
  COHORT_ASSIGN_OR_RETURN(const auto* const chunks, field<List>(fields, "chunks"));
  for (const Value& value : chunks->items) {
    COHORT_ASSIGN_OR_RETURN(DcpChunk chunk, chunk_of(value, tensor, places));
    tensor.chunks.push_back(std::move(chunk));
  }
  COHORT_RETURN_IF_ERROR(check_total(tensor));
  return tensor;
}

}  // namespace

Result<DcpMetadata> dcp_metadata_in(const Value& root) {
  const Dict* const fields = fields_of(root, "Metadata");
  if (fields == nullptr) {
    return bad_metadata(fmt::format("expected the class Metadata, found {}", kind_of(root)));
  }
  COHORT_ASSIGN_OR_RETURN(const auto* const table, field<Dict>(*fields, "state_dict_metadata"));
  COHORT_ASSIGN_OR_RETURN(const DcpPlaces places, places_in(*fields));
  DcpMetadata metadata;
  for (const auto& [key, value] : table->entries) {
    const auto* const name = key.as<std::string>();
    if (name == nullptr) return bad_metadata(fmt::format("a name is {}, expected a text", kind_of(key)));
    if (const Dict* const tensor_fields = fields_of(value, "TensorStorageMetadata")) {
      COHORT_ASSIGN_OR_RETURN(
          DcpTensor tensor,
          tensor_of(*name, *tensor_fields, places).within(fmt::format("cannot read '{}'", printable(*name))));
      metadata.tensors.push_back(std::move(tensor));
    } else {
      COHORT_ASSIGN_OR_RETURN(DcpPlace place, place_of(places, {*name, {}}));
      metadata.values.emplace(*name, std::move(place));
    }
  }
  return metadata;
}

}  // namespace cohort::interchange

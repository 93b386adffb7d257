#include "interchange/pickle/calls.h"
#include "interchange/pickle/limits.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cohort::interchange {
namespace {

Error wrong_tensor(const std::string& why) {
  return Error(ErrorCode::kCorrupt, why);
}

Result<std::uint64_t> natural(const Graph& graph, NodeId id, std::string_view field) {
  const auto* const number = graph.as<std::int64_t>(id);
  if (number == nullptr || *number < 0) {
    return wrong_tensor(fmt::format("expected an integer from 0 on as {} of a tensor, found {}", field,
                                    number == nullptr ? kind_of(graph.at(id)) : std::to_string(*number)));
  }
  return static_cast<std::uint64_t>(*number);
}

Result<std::vector<std::uint64_t>> naturals(const Graph& graph, NodeId id, std::string_view field) {
  const auto* const tuple = graph.as<TupleNode>(id);
  if (tuple == nullptr || tuple->items.size() > kMostDims) {
    return wrong_tensor(fmt::format("expected a tuple of at most {} integers as {} of a tensor, found {}",
                                    kMostDims, field, kind_of(graph.at(id))));
  }
  std::vector<std::uint64_t> numbers;
  for (const NodeId item : tuple->items) {
    COHORT_ASSIGN_OR_RETURN(const std::uint64_t number, natural(graph, item, field));
    numbers.push_back(number);
  }
  return numbers;
}

bool is_empty(const Shape& shape) {
  return std::find(shape.begin(), shape.end(), std::size_t{0}) != shape.end();
}

// One more than the last element that the tensor takes of its storage; nothing beyond 63 bits.
std::optional<std::uint64_t> end_of(const StoredTensor& tensor) {
  auto end = static_cast<std::int64_t>(tensor.offset);
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    std::int64_t way = 0;
    if (__builtin_mul_overflow(tensor.shape[d] - 1, tensor.strides[d], &way) ||
        __builtin_add_overflow(end, way, &end)) {
      return std::nullopt;
    }
  }
  if (__builtin_add_overflow(end, 1, &end)) return std::nullopt;
  return static_cast<std::uint64_t>(end);
}

// The bytes of the elements of a tensor; nothing beyond 63 bits.
std::optional<std::uint64_t> tensor_bytes(const StoredTensor& tensor) {
  auto bytes = static_cast<std::int64_t>(size_bytes(tensor.dtype));
  for (const std::size_t length : tensor.shape) {
    if (__builtin_mul_overflow(bytes, length, &bytes)) return std::nullopt;
  }
  return static_cast<std::uint64_t>(bytes);
}

Status check_extent(const StoredTensor& tensor, std::uint64_t storage_bytes) {
  const std::uint64_t available = storage_bytes / size_bytes(tensor.dtype);
  const auto end = end_of(tensor);
  if (!end || *end > available) {
    return wrong_tensor(fmt::format(
        "a tensor of shape [{}] with strides [{}] from element {} on does not fit into its storage of {} "
        "elements",
        fmt::join(tensor.shape, ", "), fmt::join(tensor.strides, ", "), tensor.offset, available));
  }
  const auto bytes = tensor_bytes(tensor);
  if (bytes && *bytes <= std::max(storage_bytes, kMostRepeatedBytes)) return {};
  return Error(ErrorCode::kUnsupported,
               fmt::format(
                   "a tensor of shape [{}] repeats the {} elements of its storage; at most {} bytes are read",
                   fmt::join(tensor.shape, ", "), available, kMostRepeatedBytes))
      .with_remedy("Save a tensor that was expanded in its original shape.");
}

// The tensor as its arguments describe it, before they are compared with the storage.
Result<StoredTensor> described(const Graph& graph, std::span<const NodeId> arguments, DType dtype) {
  StoredTensor tensor{.dtype = dtype};
  COHORT_ASSIGN_OR_RETURN(tensor.offset, natural(graph, arguments[1], "offset"));
  COHORT_ASSIGN_OR_RETURN(tensor.shape, naturals(graph, arguments[2], "shape"));
  COHORT_ASSIGN_OR_RETURN(tensor.strides, naturals(graph, arguments[3], "strides"));
  if (tensor.shape.size() == tensor.strides.size()) return tensor;
  return wrong_tensor(fmt::format("expected as many strides as dimensions, found {} and {}",
                                  tensor.strides.size(), tensor.shape.size()));
}

Result<Node> make_tensor(Graph& graph, std::span<const NodeId> arguments, std::optional<DType> dtype) {
  const auto* const part = graph.as<StorageNode>(arguments[0]);
  if (part == nullptr) {
    return wrong_tensor(
        fmt::format("expected a storage as first argument, found {}", kind_of(graph.at(arguments[0]))));
  }
  const StorageKey& storage = graph.storages()[part->storage];
  const DType type = dtype.value_or(storage.dtype.value_or(DType::kU8));
  COHORT_ASSIGN_OR_RETURN(StoredTensor tensor, described(graph, arguments, type));
  tensor.storage = part->storage;
  if (is_empty(tensor.shape)) {
    tensor.offset = 0;
    return tensor;
  }
  COHORT_RETURN_IF_ERROR(check_extent(tensor, part->count * storage.element_bytes()));
  const std::uint64_t before = part->first * storage.element_bytes();
  if (before % size_bytes(type) == 0) {
    tensor.offset += before / size_bytes(type);
    return tensor;
  }
  return wrong_tensor(fmt::format("a tensor begins at byte {} of its storage, expected a multiple of {}",
                                  before, size_bytes(type)));
}

// Hooks and the like, which torch.save() writes empty.
bool holds_something(const Graph& graph, NodeId id) {
  if (const auto* const dict = graph.as<DictNode>(id)) return !dict->entries.empty();
  return graph.as<std::monostate>(id) == nullptr;
}

Status expect_no_metadata(const Graph& graph, std::span<const NodeId> arguments, std::size_t at) {
  if (arguments.size() <= at || !holds_something(graph, arguments[at])) return {};
  return Error(ErrorCode::kUnsupported, "a tensor is a view that conjugates or negates another one")
      .with_remedy("Save tensor.resolve_conj().resolve_neg() instead.");
}

}  // namespace

Result<Node> rebuild_tensor(Graph& graph, std::span<const NodeId> arguments) {
  COHORT_RETURN_IF_ERROR(expect_arguments(arguments, 4, 4));
  return make_tensor(graph, arguments, std::nullopt);
}

Result<Node> rebuild_tensor_v2(Graph& graph, std::span<const NodeId> arguments) {
  COHORT_RETURN_IF_ERROR(expect_arguments(arguments, 6, 7));
  COHORT_RETURN_IF_ERROR(expect_no_metadata(graph, arguments, 6));
  return make_tensor(graph, arguments, std::nullopt);
}

Result<Node> rebuild_tensor_v3(Graph& graph, std::span<const NodeId> arguments) {
  COHORT_RETURN_IF_ERROR(expect_arguments(arguments, 7, 8));
  COHORT_RETURN_IF_ERROR(expect_no_metadata(graph, arguments, 7));
  const auto* const type = graph.as<GlobalNode>(arguments[6]);
  if (type == nullptr || type->global->use != GlobalUse::kDType) {
    return wrong_tensor(fmt::format("expected an element type, found {}", kind_of(graph.at(arguments[6]))));
  }
  return make_tensor(graph, arguments, type->global->dtype);
}

Result<Node> rebuild_parameter(Graph& graph, std::span<const NodeId> arguments) {
  COHORT_RETURN_IF_ERROR(expect_arguments(arguments, 3, 4));
  const auto* const tensor = graph.as<StoredTensor>(arguments[0]);
  if (tensor == nullptr) {
    return wrong_tensor(
        fmt::format("expected a tensor as parameter, found {}", kind_of(graph.at(arguments[0]))));
  }
  return *tensor;
}

}  // namespace cohort::interchange

#include "interchange/input/printable.h"
#include "interchange/pickle/unpickler.h"

namespace cohort::interchange {
namespace {

constexpr std::size_t kIdLength = 5;      // 'storage', type, key, device, length
constexpr std::size_t kLongIdLength = 6;  // of the legacy format: and a view
/// Longer than any storage, and short enough to be counted in bytes.
constexpr std::int64_t kMostElements = std::int64_t{1} << 56;

}  // namespace

Status Unpickler::persistent_id() {
  COHORT_ASSIGN_OR_RETURN(const NodeId id, pop("the id of a storage"));
  COHORT_ASSIGN_OR_RETURN(const auto* const tuple, as<TupleNode>(id, "a tuple as the id of a storage"));
  COHORT_ASSIGN_OR_RETURN(const StorageNode storage, storage_of(tuple->items));
  return push(storage);
}

Result<StorageNode> Unpickler::storage_of(std::span<const NodeId> id) {
  if (id.size() != kIdLength && id.size() != kLongIdLength) {
    return corrupt(fmt::format("expected {} or {} items in the id of a storage, found {}", kIdLength,
                               kLongIdLength, id.size()));
  }
  COHORT_ASSIGN_OR_RETURN(const auto* const kind, as<std::string>(id[0], "'storage'"));
  if (*kind != "storage") return corrupt(fmt::format("expected 'storage', found '{}'", printable(*kind)));
  COHORT_ASSIGN_OR_RETURN(const auto* const type, as<GlobalNode>(id[1], "the type of a storage"));
  const Global& global = *type->global;
  const bool is_typed = global.use == GlobalUse::kStorage;
  if (!is_typed && global.use != GlobalUse::kBytes) {
    return corrupt(fmt::format("expected the type of a storage, found {}", full_name(global)));
  }
  COHORT_ASSIGN_OR_RETURN(const auto* const key, as<std::string>(id[2], "the key of a storage"));
  COHORT_ASSIGN_OR_RETURN(const auto* const count, as<std::int64_t>(id[4], "the length of a storage"));
  if (*count < 0 || *count > kMostElements) {
    return corrupt(fmt::format("expected a length of 0 … {} of storage '{}', found {}", kMostElements,
                               printable(*key), *count));
  }
  StorageKey storage{.key = *key, .dtype = {}, .count = static_cast<std::uint64_t>(*count)};
  if (is_typed) storage.dtype = global.dtype;
  COHORT_ASSIGN_OR_RETURN(const std::size_t index, graph_.add_storage(storage));
  const StorageNode all{.storage = index, .first = 0, .count = storage.count};
  return id.size() == kIdLength ? all : view_of(all, id[5]);
}

// The part of a storage that a view of the legacy format is: (key of the view, first element, length).
Result<StorageNode> Unpickler::view_of(StorageNode storage, NodeId view) {
  if (graph_.as<std::monostate>(view) != nullptr) return storage;
  constexpr std::size_t kViewLength = 3;
  COHORT_ASSIGN_OR_RETURN(const auto* const tuple, as<TupleNode>(view, "the view of a storage"));
  if (tuple->items.size() != kViewLength) return corrupt("expected 3 items in the view of a storage");
  COHORT_ASSIGN_OR_RETURN(const auto* const first, as<std::int64_t>(tuple->items[1], "the begin of a view"));
  COHORT_ASSIGN_OR_RETURN(const auto* const count, as<std::int64_t>(tuple->items[2], "the length of a view"));
  const auto all = static_cast<std::int64_t>(storage.count);
  if (*first < 0 || *count < 0 || *first > all || *count > all - *first) {
    return corrupt(
        fmt::format("elements {} … {} of a view are not inside its storage of {}", *first, *count, all));
  }
  storage.first = static_cast<std::uint64_t>(*first);
  storage.count = static_cast<std::uint64_t>(*count);
  return storage;
}

}  // namespace cohort::interchange

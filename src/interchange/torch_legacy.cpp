#include "interchange/input/printable.h"
#include "interchange/torch_content.h"

#include <algorithm>
#include <map>

namespace cohort::interchange {
namespace {

constexpr std::string_view kMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
constexpr std::int64_t kProtocol = 1001;

// All pickles of protocol 2 and later begin with the same opcode.
Status check_first_byte(const FileWindow& file) {
  constexpr std::byte kProto{0x80};
  std::byte first{};
  COHORT_RETURN_IF_ERROR(file.read(0, std::span(&first, 1)));
  if (first == kProto) return {};
  return Error(ErrorCode::kUnsupported,
               fmt::format("it begins with byte {:#04x}, expected a zip file or a pickle",
                           std::to_integer<int>(first)))
      .with_remedy("Name a file that torch.save() of Python wrote.");
}

Status check_magic(const Value& value) {
  const Object* const object = value.as<Object>();
  const Bytes* const bytes =
      object != nullptr && object->content.size() == 1 ? object->content[0].as<Bytes>() : nullptr;
  if (bytes != nullptr && bytes->bytes == kMagic) return {};
  return Error(ErrorCode::kUnsupported,
               fmt::format("it begins with a pickle of {}, expected the magic number of torch.save()",
                           kind_of(value)));
}

Status check_protocol(const Value& value) {
  const auto* const number = value.as<std::int64_t>();
  if (number != nullptr && *number == kProtocol) return {};
  return Error(ErrorCode::kUnsupported,
               fmt::format("its protocol is {}, expected {}",
                           number == nullptr ? kind_of(value) : std::to_string(*number), kProtocol));
}

Status check_system(const Value& value) {
  const Dict* const dict = value.as<Dict>();
  const Value* const found = dict == nullptr ? nullptr : dict->find("little_endian");
  const bool* const is_little = found == nullptr ? nullptr : found->as<bool>();
  if (is_little == nullptr) {
    return Error(ErrorCode::kCorrupt,
                 fmt::format("expected a dict with 'little_endian', found {}", kind_of(value)));
  }
  if (*is_little) return {};
  return Error(ErrorCode::kUnsupported, "its byte order is 'big', expected 'little'")
      .with_remedy("Load and save it in Python on a little-endian machine.");
}

Result<std::vector<std::string>> keys_in(const Value& value) {
  std::vector<std::string> keys;
  const List* const list = value.as<List>();
  for (const Value& item : list == nullptr ? std::vector<Value>() : list->items) {
    if (const auto* const key = item.as<std::string>()) keys.push_back(*key);
  }
  if (list != nullptr && keys.size() == list->items.size()) return keys;
  return Error(ErrorCode::kCorrupt, "expected a list of texts as the keys of the storages");
}

// Finds the storages behind the pickles: a length and that many elements for each key.
class StorageFinder {
 public:
  StorageFinder(const FileWindow& file, std::uint64_t at, const std::vector<StorageKey>& storages)
      : file_(file), at_(at), storages_(storages), found_(storages.size()) {
    for (std::size_t i = 0; i < storages.size(); ++i) index_.emplace(storages[i].key, i);
  }

  Status add(const std::string& key) {
    const auto found = index_.find(key);
    if (found == index_.end() || found_[found->second]) {
      return Error(ErrorCode::kCorrupt,
                   fmt::format("the list of keys has '{}', which {}", printable(key),
                               found == index_.end() ? "no tensor refers to" : "occurs twice"));
    }
    const StorageKey& storage = storages_[found->second];
    std::uint64_t count = 0;
    COHORT_RETURN_IF_ERROR(file_.read(at_, std::as_writable_bytes(std::span(&count, 1))));
    if (count != storage.count) {
      return Error(ErrorCode::kCorrupt, fmt::format("storage '{}' has {} elements at byte {}, expected {}",
                                                    printable(key), count, file_.place(at_), storage.count));
    }
    at_ += sizeof count;
    COHORT_ASSIGN_OR_RETURN(const FileWindow data, file_.part(at_, count * storage.element_bytes()));
    at_ += data.size_bytes();
    found_[found->second] = StorageBytes{.data = data, .entry = {}};
    return {};
  }

  Result<std::vector<StorageBytes>> finish() const {
    std::vector<StorageBytes> all;
    for (std::size_t i = 0; i < storages_.size(); ++i) {
      if (!found_[i]) {
        return Error(ErrorCode::kCorrupt,
                     fmt::format("the list of keys lacks storage '{}'", printable(storages_[i].key)));
      }
      all.push_back(*found_[i]);
    }
    if (at_ == file_.size_bytes()) return all;
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{} bytes follow the last storage, expected 0", file_.size_bytes() - at_));
  }

 private:
  const FileWindow file_;
  std::uint64_t at_;
  const std::vector<StorageKey>& storages_;
  std::vector<std::optional<StorageBytes>> found_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

}  // namespace

Result<TorchContent> read_torch_legacy(const FileWindow& file) {
  COHORT_RETURN_IF_ERROR(check_first_byte(file));
  ByteFeed feed(file);
  COHORT_ASSIGN_OR_RETURN(const Unpickled magic, unpickle(feed, plain_globals()));
  COHORT_RETURN_IF_ERROR(check_magic(magic.value));
  COHORT_ASSIGN_OR_RETURN(const Unpickled protocol, unpickle(feed, plain_globals()));
  COHORT_RETURN_IF_ERROR(check_protocol(protocol.value));
  COHORT_ASSIGN_OR_RETURN(const Unpickled system, unpickle(feed, plain_globals()));
  COHORT_RETURN_IF_ERROR(check_system(system.value));
  COHORT_ASSIGN_OR_RETURN(Unpickled object, unpickle(feed, torch_globals()));
  COHORT_ASSIGN_OR_RETURN(const Unpickled last, unpickle(feed, plain_globals()));
  COHORT_ASSIGN_OR_RETURN(const std::vector<std::string> keys, keys_in(last.value));
  StorageFinder finder(file, feed.taken(), object.storages);
  for (const std::string& key : keys) COHORT_RETURN_IF_ERROR(finder.add(key));
  TorchContent content{.root = std::move(object.value), .storages = {}};
  COHORT_ASSIGN_OR_RETURN(content.storages, finder.finish());
  return content;
}

}  // namespace cohort::interchange

#pragma once

#include <cohort/dtype.h>
#include <cohort/slice.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cohort::interchange {

/// A tensor as it lies in a storage, a buffer that several tensors may share. Element (i, j, …) is element
/// offset + i · strides[0] + j · strides[1] + … of the storage.
struct StoredTensor {
  DType dtype = DType::kF32;
  Shape shape{};
  std::vector<std::uint64_t> strides{};
  std::size_t storage = 0;   ///< index among the storages of the file
  std::uint64_t offset = 0;  ///< in elements

  bool operator==(const StoredTensor&) const = default;
};

struct Value;
/// A key and its value.
using Entry = std::pair<Value, Value>;

struct Bytes {
  std::string bytes{};
  bool operator==(const Bytes&) const = default;
};
/// A list; a set, too, in the order of the file.
struct List {
  std::vector<Value> items;
  bool operator==(const List& other) const;
};
struct Tuple {
  std::vector<Value> items;
  bool operator==(const Tuple& other) const;
};

enum class DictKind { kPlain, kOrderedDict };

/// A dictionary in the order of the file. Keys are different; they are integers, texts or objects.
struct Dict {
  std::vector<Entry> entries;
  DictKind kind = DictKind::kPlain;

  /// The value of a text or an integer as key; null if there is none.
  const Value* find(std::string_view key) const;
  const Value* find(std::int64_t key) const;
  void add(Value key, Value value);
  bool operator==(const Dict& other) const;
};

/// Anything else that has a name in Python: `torch.float16` has no content, `torch.device` has a tuple of
/// arguments, a dataclass a dictionary of its fields, an integer of more than 64 bits (`builtins.int`) its
/// bytes in two's complement.
struct Object {
  std::string type{};
  std::vector<Value> content;  ///< one value or none
  bool operator==(const Object& other) const;
};

/// A tree of plain data, as a pickle describes it.
///
/// Lifetime: owns everything but the bytes of tensors.
struct Value {
  using Content = std::variant<std::monostate, bool, std::int64_t, double, std::string, Bytes, List, Tuple,
                               Dict, StoredTensor, Object>;

  Value() = default;  ///< None
  Value(bool value) : content(value) {}
  Value(int value) : content(std::int64_t{value}) {}
  Value(std::int64_t value) : content(value) {}
  Value(double value) : content(value) {}
  Value(const char* value) : content(std::string(value)) {}
  Value(std::string value) : content(std::move(value)) {}
  Value(Bytes value) : content(std::move(value)) {}
  Value(List value) : content(std::move(value)) {}
  Value(Tuple value) : content(std::move(value)) {}
  Value(Dict value) : content(std::move(value)) {}
  Value(StoredTensor value) : content(std::move(value)) {}
  Value(Object value) : content(std::move(value)) {}

  /// Null if the value is of another type.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&content);
  }
  bool is_none() const { return std::holds_alternative<std::monostate>(content); }
  bool operator==(const Value& other) const;

  Content content{};
};

/// `a list`, `None`, `torch.device`, …: the type of a value in an error message.
std::string kind_of(const Value& value);

}  // namespace cohort::interchange

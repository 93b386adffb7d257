#include "interchange/pickle/value.h"

#include "interchange/input/printable.h"

namespace cohort::interchange {
namespace {

template <class Key, class Wanted>
const Value* value_under(const Dict& dict, Wanted wanted) {
  for (const Entry& entry : dict.entries) {
    const Key* const key = entry.first.as<Key>();
    if (key != nullptr && *key == wanted) return &entry.second;
  }
  return nullptr;
}

}  // namespace

const Value* Dict::find(std::string_view key) const {
  return value_under<std::string>(*this, key);
}

const Value* Dict::find(std::int64_t key) const {
  return value_under<std::int64_t>(*this, key);
}

void Dict::add(Value key, Value value) {
  entries.emplace_back(std::move(key), std::move(value));
}

// Written out, because compilers do not manage defaults of types that contain each other.
bool List::operator==(const List& other) const {
  return items == other.items;
}
bool Tuple::operator==(const Tuple& other) const {
  return items == other.items;
}
bool Dict::operator==(const Dict& other) const {
  return kind == other.kind && entries == other.entries;
}
bool Object::operator==(const Object& other) const {
  return type == other.type && content == other.content;
}
bool Value::operator==(const Value& other) const {
  return content == other.content;
}

std::string kind_of(const Value& value) {
  if (const Object* const object = value.as<Object>()) return printable(object->type);
  static constexpr const char* kKinds[] = {"None",  "a bool", "an integer", "a float", "a text",
                                           "bytes", "a list", "a tuple",    "a dict",  "a tensor"};
  return kKinds[value.content.index()];
}

}  // namespace cohort::interchange

#pragma once

#include "base/byte_stream.h"
#include "interchange/pickle/unpickle.h"
#include "storage/memory_file_system.h"

#include <string>

// Pickles by their opcodes, for tests.

namespace cohort::test {

template <class Number>
std::string raw(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// The opcodes of a text, of a number, and of a global.
inline std::string text(const std::string& letters) {
  return "X" + raw(static_cast<std::uint32_t>(letters.size())) + letters;
}
inline std::string number(std::int32_t value) {
  return "J" + raw(value);
}
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
/// A tuple of the values that these opcodes make.
inline std::string tuple(const std::string& items) {
  return "(" + items + "t";
}
inline std::string storage(const std::string& key = "0", int count = 6,
                           const std::string& type = "FloatStorage") {
  return tuple(text("storage") + global("torch", type) + text(key) + text("cpu") + number(count)) + "Q";
}
inline std::string tensor(const std::string& shape, const std::string& strides, int offset = 0,
                          const std::string& of = storage()) {
  return global("torch._utils", "_rebuild_tensor_v2") +
         tuple(of + number(offset) + tuple(shape) + tuple(strides) + "\x89}") + "R";
}

/// A file in memory.
class MemoryBytes final : public ReadableFile {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}

  Result<std::uint64_t> size_bytes() override { return bytes_.size(); }
  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    const std::string_view rest = bytes_.substr(std::min<std::uint64_t>(offset, bytes_.size()));
    const std::size_t count = std::min(rest.size(), into.size());
    if (count > 0) std::memcpy(into.data(), rest.data(), count);
    return count;
  }

 private:
  const std::string_view bytes_;
};

/// Reads the pickle that these opcodes are; STOP is added.
inline Result<interchange::Unpickled> unpickled(
    const std::string& opcodes, interchange::GlobalTable allowed = interchange::torch_globals()) {
  const std::string pickle = opcodes + ".";
  MemoryBytes file(pickle);
  interchange::ByteFeed feed(value_or_throw(interchange::FileWindow::whole(file)));
  return interchange::unpickle(feed, allowed);
}

inline interchange::Value value_of(const std::string& opcodes) {
  return value_or_throw(unpickled(opcodes)).value;
}

/// The code of the failure and its text, or nothing.
inline std::string refusal(const std::string& opcodes,
                           interchange::GlobalTable allowed = interchange::torch_globals()) {
  const auto result = unpickled(opcodes, allowed);
  return result ? "" : std::string(name(result.error().code())) + ": " + result.error().text();
}

}  // namespace cohort::test

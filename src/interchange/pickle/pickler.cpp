#include "interchange/pickle/pickler.h"

#include "base/byte_stream.h"
#include "interchange/pickle/globals.h"

#include <bit>

namespace cohort::interchange {
namespace {

// Nothing is memoized: the format allows it, and texts that repeat are short.
class Pickler {
 public:
  explicit Pickler(std::span<const StorageKey> storages) : storages_(storages) {}

  Status add(const Value& value) {
    return std::visit([&](const auto& content) { return put(content); }, value.content);
  }
  std::string take() { return std::move(text_); }

 private:
  Status put(std::monostate) { return opcode("N"); }
  Status put(bool value) { return opcode(value ? "\x88" : "\x89"); }
  Status put(std::int64_t value) {
    if (value == static_cast<std::int32_t>(value)) {
      return opcode("J").number(static_cast<std::int32_t>(value));
    }
    return opcode("\x8a").number(static_cast<std::uint8_t>(sizeof value)).number(value);
  }
  Status put(double value) {
    return opcode("G").number(__builtin_bswap64(std::bit_cast<std::uint64_t>(value)));
  }
  Status put(const std::string& value) {
    opcode("X").number(static_cast<std::uint32_t>(value.size()));
    text_ += value;
    return {};
  }
  // Bytes are a text of Latin-1 in protocol 2.
  Status put(const Bytes& value) {
    std::string text;
    for (const char letter : value.bytes) {
      const auto code = static_cast<unsigned char>(letter);
      if (code >= 0x80) text += static_cast<char>(0xc0 | code >> 6);
      text += static_cast<char>(code < 0x80 ? code : 0x80 | (code & 0x3f));
    }
    opcode("c_codecs\nencode\n");
    COHORT_RETURN_IF_ERROR(put(text));
    COHORT_RETURN_IF_ERROR(put(std::string("latin1")));
    return opcode("\x86R");
  }
  Status put(const List& value) {
    opcode("](");
    COHORT_RETURN_IF_ERROR(add_all(value.items));
    return opcode("e");
  }
  Status put(const Tuple& value) {
    opcode("(");
    COHORT_RETURN_IF_ERROR(add_all(value.items));
    return opcode("t");
  }
  Status put(const Dict& value) {
    opcode(value.kind == DictKind::kOrderedDict ? "ccollections\nOrderedDict\n)R(" : "}(");
    for (const auto& [key, each] : value.entries) {
      COHORT_RETURN_IF_ERROR(add(key));
      COHORT_RETURN_IF_ERROR(add(each));
    }
    return opcode("u");
  }
  Status put(const StoredTensor& tensor) {
    const StorageKey& storage = storages_[tensor.storage];
    opcode("ctorch._utils\n_rebuild_tensor_v2\n((");
    COHORT_RETURN_IF_ERROR(put(std::string("storage")));
    opcode("ctorch\n").text_ += storage_name(tensor.dtype);
    opcode("\n");
    COHORT_RETURN_IF_ERROR(put(storage.key));
    COHORT_RETURN_IF_ERROR(put(std::string("cpu")));
    COHORT_RETURN_IF_ERROR(put(static_cast<std::int64_t>(storage.count)));
    opcode("tQ");
    COHORT_RETURN_IF_ERROR(put(static_cast<std::int64_t>(tensor.offset)));
    put_sizes(tensor.shape);
    put_sizes(tensor.strides);
    return opcode(
        "\x89"
        "ccollections\nOrderedDict\n)RtR");  // requires_grad, hooks
  }
  static Status put(const Object& object) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("an object of type {} cannot be written, expected plain data", object.type));
  }

  Status add_all(std::span<const Value> values) {
    for (const Value& value : values) COHORT_RETURN_IF_ERROR(add(value));
    return {};
  }
  template <class Numbers>
  void put_sizes(const Numbers& sizes) {
    opcode("(");
    for (const auto size : sizes) (void)put(static_cast<std::int64_t>(size));
    opcode("t");
  }
  Pickler& opcode(std::string_view codes) {
    text_ += codes;
    return *this;
  }
  template <class Number>
  Pickler& number(Number value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  operator Status() const { return {}; }

  const std::span<const StorageKey> storages_;
  std::string text_;
};

}  // namespace

Result<std::string> pickled(const Value& value, std::span<const StorageKey> storages) {
  Pickler pickler(storages);
  COHORT_RETURN_IF_ERROR(pickler.add(value));
  return "\x80\x02" + pickler.take() + ".";
}

}  // namespace cohort::interchange

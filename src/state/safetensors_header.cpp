#include "state/safetensors_header.h"

#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

namespace cohort::state {
namespace {

using Json = nlohmann::json;

// Reads the header while it is parsed. Keeps only members that the format knows, so that a hostile header
// costs no more memory than its own length. Finds duplicate names, which a JSON tree would hide.
class HeaderReader final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  bool start_object(std::size_t) override {
    if (member_ != Member::kNone) return wrong("an object");
    switch (depth_++) {
      case 0:
        return true;
      case 1:
        return begin_entry();
      default:
        return wrong("an object");
    }
  }

  bool key(string_t& text) override {
    if (depth_ == 1) return take_name(text);
    if (is_metadata_) return take_metadata_key(text);
    return take_member(text);
  }

  bool end_object() override {
    --depth_;
    return depth_ == 0 || is_metadata_ || end_entry();
  }

  bool start_array(std::size_t) override {
    if (member_ != Member::kShape && member_ != Member::kOffsets) return wrong("an array");
    if (in_array_) return wrong("an array in an array");
    in_array_ = true;
    return true;
  }

  bool end_array() override {
    in_array_ = false;
    member_ = Member::kNone;
    return true;
  }

  bool string(string_t& text) override {
    if (depth_ == 2 && is_metadata_) {
      header_.metadata[metadata_key_] = text;
      return true;
    }
    if (member_ != Member::kDType) return wrong("a text");
    entry().dtype = text;
    member_ = Member::kNone;
    return true;
  }

  bool number_unsigned(number_unsigned_t number) override {
    if (!in_array_) return wrong("a number");
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return wrong("a number beyond 63 bits");
    }
    if (member_ == Member::kShape) {
      entry().shape.push_back(static_cast<std::int64_t>(number));
    } else {
      entry().data_offsets.push_back(number);
    }
    return true;
  }

  bool number_integer(number_integer_t) override { return wrong("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return wrong("a number that is not whole"); }
  bool null() override { return wrong("null"); }
  bool boolean(bool) override { return wrong("true or false"); }
  bool binary(binary_t&) override { return wrong("binary data"); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    if (position > text_.size()) {
      return refuse(fmt::format("the header ends after byte {}, expected more JSON", text_.size()));
    }
    const auto found = static_cast<unsigned char>(text_[position > 0 ? position - 1 : 0]);
    return refuse(fmt::format("byte {} of the header is {:#04x}, expected JSON", position, found));
  }

  const std::string& reason() const { return reason_; }
  Header take() { return std::move(header_); }

 private:
  enum class Member { kNone, kDType, kShape, kOffsets };

  HeaderEntry& entry() { return header_.entries.back(); }

  bool refuse(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
    return false;
  }
  bool wrong(std::string_view what) {
    return refuse(depth_ == 0 ? fmt::format("the header is {}, not an object", what)
                              : fmt::format("'{}' has {} where the format has none", name_, what));
  }

  bool take_name(const std::string& name) {
    name_ = name;
    if (!names_.insert(name).second) return refuse(fmt::format("'{}' occurs twice", name));
    return true;
  }

  bool begin_entry() {
    is_metadata_ = name_ == kMetadataName;
    members_.clear();
    if (!is_metadata_) {
      header_.entries.push_back({.name = name_, .dtype = {}, .shape = {}, .data_offsets = {}});
    }
    return true;
  }

  bool take_metadata_key(const std::string& key) {
    metadata_key_ = key;
    if (header_.metadata.contains(key)) return refuse(fmt::format("'{}' of the metadata occurs twice", key));
    return true;
  }

  bool take_member(const std::string& key) {
    if (member_ != Member::kNone) return wrong("a key");
    if (key == "dtype") {
      member_ = Member::kDType;
    } else if (key == "shape") {
      member_ = Member::kShape;
    } else if (key == "data_offsets") {
      member_ = Member::kOffsets;
    } else {
      return refuse(fmt::format("'{}' has an unknown member '{}'", name_, key));
    }
    if (!members_.insert(key).second) return refuse(fmt::format("'{}' has '{}' twice", name_, key));
    return true;
  }

  bool end_entry() {
    constexpr std::size_t kMembers = 3;
    if (members_.size() < kMembers) {
      return refuse(fmt::format("'{}' lacks dtype, shape or data_offsets", name_));
    }
    if (entry().data_offsets.size() != 2) return refuse(fmt::format("'{}' has not two data_offsets", name_));
    return true;
  }

  const std::string_view text_;
  Header header_;
  std::string reason_;
  int depth_ = 0;
  bool in_array_ = false;
  bool is_metadata_ = false;
  Member member_ = Member::kNone;  ///< the member whose value comes next
  std::string name_;
  std::string metadata_key_;
  std::set<std::string> names_;
  std::set<std::string> members_;
};

}  // namespace

std::string_view safetensors_name(DType dtype) {
  constexpr std::string_view kNames[] = {"F32", "F64", "BF16", "F16", "I8",
                                         "I16", "I32", "I64",  "U8",  "BOOL"};
  return kNames[static_cast<std::size_t>(dtype)];
}

Result<Header> parse_header(std::string_view text) {
  if (text.empty()) return Error(ErrorCode::kCorrupt, "the header has 0 bytes, expected 2 or more");
  if (text.front() != '{') {
    return Error(ErrorCode::kCorrupt, fmt::format("byte 1 of the header is {:#04x}, expected {:#04x} ('{{')",
                                                  static_cast<unsigned char>(text.front()), '{'));
  }
  // The parser takes a zero byte for the end of the text and would ignore the rest.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return Error(ErrorCode::kCorrupt, fmt::format("byte {} of the header is 0x00, expected JSON", zero + 1));
  }
  HeaderReader reader(text);
  if (!Json::sax_parse(text, &reader)) return Error(ErrorCode::kCorrupt, reader.reason());
  return reader.take();
}

}  // namespace cohort::state

#include "interchange/pickle/limits.h"
#include "interchange/pickle/unpickler.h"

#include <algorithm>
#include <bit>

namespace cohort::interchange {

Status Unpickler::protocol() {
  constexpr std::uint8_t kNewest = 5;
  COHORT_ASSIGN_OR_RETURN(const auto version, feed_.number<std::uint8_t>("protocol"));
  if (version <= kNewest) return {};
  return corrupt(fmt::format("expected a protocol up to {}, found {}", kNewest, version));
}

// A frame says how much can be read at once. The feed has its own buffer.
Status Unpickler::frame() {
  COHORT_RETURN_IF_ERROR(feed_.number<std::uint64_t>("length of a frame"));
  return {};
}

Status Unpickler::none() {
  return push(std::monostate());
}
Status Unpickler::truth() {
  return push(true);
}
Status Unpickler::falsehood() {
  return push(false);
}

template <class Number>
Status Unpickler::integer() {
  COHORT_ASSIGN_OR_RETURN(const auto number, feed_.number<Number>("integer"));
  return push(std::int64_t{number});
}
template Status Unpickler::integer<std::int32_t>();
template Status Unpickler::integer<std::uint8_t>();
template Status Unpickler::integer<std::uint16_t>();

Status Unpickler::long_integer() {
  COHORT_ASSIGN_OR_RETURN(const auto length, feed_.number<std::uint8_t>("length of an integer"));
  COHORT_ASSIGN_OR_RETURN(const auto digits, feed_.take(length, "integer"));
  std::int64_t number = 0;
  if (length > sizeof number) {
    return push(LongNode{.bytes = {reinterpret_cast<const char*>(digits.data()), digits.size()}});
  }
  const bool is_negative = length > 0 && (std::to_integer<int>(digits.back()) & 0x80) != 0;
  if (is_negative) number = -1;  // the sign fills the bytes that are not given
  std::memcpy(&number, digits.data(), length);
  return push(number);
}

// Floats are the one number of a pickle that is big endian.
Status Unpickler::floating() {
  COHORT_ASSIGN_OR_RETURN(const auto number, feed_.number<std::uint64_t>("float"));
  return push(std::bit_cast<double>(__builtin_bswap64(number)));
}

template <class Length>
Status Unpickler::text() {
  COHORT_ASSIGN_OR_RETURN(const auto length, feed_.number<Length>("length of a text"));
  if (length > kMostTextBytes) {
    return corrupt(fmt::format("expected a text of at most {} bytes, found {}", kMostTextBytes, length));
  }
  COHORT_ASSIGN_OR_RETURN(const auto letters, feed_.take(length, "text"));
  return push(std::string(reinterpret_cast<const char*>(letters.data()), letters.size()));
}
template Status Unpickler::text<std::uint8_t>();
template Status Unpickler::text<std::uint32_t>();

template <class Length>
Status Unpickler::bytes() {
  COHORT_RETURN_IF_ERROR(text<Length>());
  graph_.at(stack_.back()) = Bytes{.bytes = std::move(*graph_.as<std::string>(stack_.back()))};
  return {};
}
template Status Unpickler::bytes<std::uint8_t>();
template Status Unpickler::bytes<std::uint32_t>();

template <class Number>
Status Unpickler::put() {
  COHORT_ASSIGN_OR_RETURN(const auto number, feed_.number<Number>("number in the memo"));
  COHORT_ASSIGN_OR_RETURN(const NodeId id, top("a value"));
  memo_[number] = id;
  return {};
}
template Status Unpickler::put<std::uint8_t>();
template Status Unpickler::put<std::uint32_t>();

Status Unpickler::memoize() {
  COHORT_ASSIGN_OR_RETURN(const NodeId id, top("a value"));
  memo_[static_cast<std::uint32_t>(memo_.size())] = id;
  return {};
}

template <class Number>
Status Unpickler::get() {
  COHORT_ASSIGN_OR_RETURN(const auto number, feed_.number<Number>("number in the memo"));
  const auto found = memo_.find(number);
  if (found == memo_.end()) return corrupt(fmt::format("value {} is not in the memo", number));
  stack_.push_back(found->second);
  return {};
}
template Status Unpickler::get<std::uint8_t>();
template Status Unpickler::get<std::uint32_t>();

}  // namespace cohort::interchange

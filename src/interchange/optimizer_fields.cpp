#include "interchange/optimizer_fields.h"

#include <fmt/format.h>

namespace cohort::interchange {

Error bad_optimizer(const std::string& why) {
  return Error(ErrorCode::kCorrupt, fmt::format("the state of the optimizer is malformed: {}", why));
}

Result<const List*> list_in(const Dict& dict, std::string_view key) {
  const Value* const found = dict.find(key);
  const List* const list = found == nullptr ? nullptr : found->as<List>();
  if (list != nullptr) return list;
  return bad_optimizer(fmt::format("expected a list under '{}', found {}", key,
                                   found == nullptr ? "nothing" : kind_of(*found)));
}

}  // namespace cohort::interchange

#include "interchange/pickle/unpickler.h"

#include "interchange/pickle/limits.h"
#include "interchange/pickle/unpickle.h"

#include <cctype>

namespace cohort::interchange {

Error Unpickler::corrupt(const std::string& why) const {
  return Error(ErrorCode::kCorrupt, fmt::format("the pickle is corrupt at byte {}: {}", place_, why));
}

Status Unpickler::push(Node node) {
  COHORT_ASSIGN_OR_RETURN(const NodeId id, graph_.add(std::move(node)));
  stack_.push_back(id);
  return {};
}

Result<NodeId> Unpickler::top(std::string_view expected) {
  if (in_reach() == 0) return corrupt(fmt::format("expected {} on the stack, found nothing", expected));
  return stack_.back();
}

Result<NodeId> Unpickler::pop(std::string_view expected) {
  COHORT_ASSIGN_OR_RETURN(const NodeId id, top(expected));
  stack_.pop_back();
  return id;
}

Result<std::vector<NodeId>> Unpickler::pop_to_mark() {
  if (marks_.empty()) return corrupt("expected a mark on the stack, found none");
  const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<NodeId> items(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return items;
}

Result<NodeId> Unpickler::run() {
  constexpr unsigned char kStop = '.';
  while (true) {
    place_ = feed_.place();
    COHORT_ASSIGN_OR_RETURN(const auto code, feed_.number<unsigned char>("opcode"));
    if (code == kStop) return pop("a value");
    const Opcode* const opcode = opcode_of(code);
    if (opcode == nullptr) {
      return Error(ErrorCode::kUnsupported,
                   fmt::format("byte {} of the pickle is opcode {:#04x}, which is not allowed", place_, code))
          .with_remedy("Save tensors, numbers, texts, lists and dictionaries only, with torch.save().");
    }
    COHORT_RETURN_IF_ERROR((this->*opcode->run)());
  }
}

Result<Unpickled> unpickle(ByteFeed& feed, GlobalTable allowed) {
  Unpickler unpickler(feed, allowed);
  COHORT_ASSIGN_OR_RETURN(const NodeId root, unpickler.run());
  COHORT_ASSIGN_OR_RETURN(Value value, tree_of(unpickler.graph(), root));
  return Unpickled{.value = std::move(value), .storages = unpickler.graph().storages()};
}

}  // namespace cohort::interchange

#include "interchange/input/printable.h"
#include "interchange/pickle/limits.h"
#include "interchange/pickle/unpickler.h"

namespace cohort::interchange {

Status Unpickler::use_global(const std::string& module, const std::string& name) {
  const Global* const found = find_global(allowed_, module, name);
  if (found == nullptr) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("the pickle names the global '{}.{}' at byte {}, which is "
                             "not allowed: nothing was executed",
                             printable(module), printable(name), place_))
        .with_remedy(
            "If you trust the file, load it in Python and save its tensors alone: "
            "torch.save(module.state_dict(), path).");
  }
  if (found->use == GlobalUse::kUnsupported) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format(
                     "the pickle has elements of type {} (byte {}), expected one of f32 f64 bf16 f16 i8 "
                     "i16 i32 i64 u8 bool",
                     full_name(*found), place_))
        .with_remedy("Convert these tensors before you save them.");
  }
  return push(GlobalNode{.global = found});
}

Status Unpickler::global() {
  COHORT_ASSIGN_OR_RETURN(const std::string module, feed_.line(kMostNameBytesOfGlobal, "module of a global"));
  COHORT_ASSIGN_OR_RETURN(const std::string name, feed_.line(kMostNameBytesOfGlobal, "name of a global"));
  return use_global(module, name);
}

Status Unpickler::stack_global() {
  COHORT_ASSIGN_OR_RETURN(const NodeId name_id, pop("the name of a global"));
  COHORT_ASSIGN_OR_RETURN(const NodeId module_id, pop("the module of a global"));
  COHORT_ASSIGN_OR_RETURN(const auto* const name, as<std::string>(name_id, "the name of a global"));
  COHORT_ASSIGN_OR_RETURN(const auto* const module, as<std::string>(module_id, "the module of a global"));
  // Copies: the texts lie in the graph, which moves them when it grows.
  return use_global(std::string(*module), std::string(*name));
}

Status Unpickler::reduce() {
  COHORT_ASSIGN_OR_RETURN(const NodeId tuple_id, pop("a tuple of arguments"));
  COHORT_ASSIGN_OR_RETURN(const NodeId callee_id, pop("a global to call"));
  COHORT_ASSIGN_OR_RETURN(const auto* const tuple, as<TupleNode>(tuple_id, "a tuple of arguments"));
  COHORT_ASSIGN_OR_RETURN(const auto* const callee, as<GlobalNode>(callee_id, "a global to call"));
  const Global& global = *callee->global;
  if (global.use == GlobalUse::kObject) return push(ObjectNode{.type = &global, .content = tuple_id});
  if (global.use != GlobalUse::kCall) return corrupt(fmt::format("{} cannot be called", full_name(global)));
  Result<Node> made = global.call(graph_, tuple->items);
  if (made) return push(std::move(*made));
  return made.error().within(fmt::format("a call of {} at byte {} is refused", full_name(global), place_));
}

Status Unpickler::new_object() {
  COHORT_ASSIGN_OR_RETURN(const NodeId tuple_id, pop("a tuple of arguments"));
  COHORT_ASSIGN_OR_RETURN(const NodeId class_id, pop("a class"));
  COHORT_ASSIGN_OR_RETURN(const auto* const tuple, as<TupleNode>(tuple_id, "a tuple of arguments"));
  COHORT_ASSIGN_OR_RETURN(const auto* const type, as<GlobalNode>(class_id, "a class"));
  if (type->global->use != GlobalUse::kClass || !tuple->items.empty()) {
    return corrupt(fmt::format("expected a dataclass without arguments, found {} with {}",
                               full_name(*type->global), tuple->items.size()));
  }
  return push(ObjectNode{.type = type->global, .content = {}});
}

// The fields of a dataclass. An OrderedDict gets attributes here, such as the versions of modules: they are
// no part of the state.
Status Unpickler::build() {
  COHORT_ASSIGN_OR_RETURN(const NodeId state, pop("the fields of an object"));
  COHORT_ASSIGN_OR_RETURN(const NodeId id, top("an object"));
  if (graph_.as<DictNode>(id) != nullptr) return {};
  COHORT_ASSIGN_OR_RETURN(ObjectNode* const object, as<ObjectNode>(id, "an object or a dict"));
  if (object->type->use != GlobalUse::kClass || object->content) {
    return corrupt(fmt::format("expected a new dataclass, found {}", full_name(*object->type)));
  }
  object->content = state;
  return {};
}

}  // namespace cohort::interchange

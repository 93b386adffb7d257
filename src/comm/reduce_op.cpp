#include <cohort/reduce_op.h>

#include <array>

namespace cohort {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"sum",  "min", "max", "product",
                                                    "mean", "and", "or",  "xor"};
static_assert(kNames.size() == std::size(kAllReduceOps));

}  // namespace

std::string_view name(ReduceOp op) {
  return kNames[static_cast<std::size_t>(op)];
}

std::optional<ReduceOp> reduce_op_named(std::string_view name) {
  for (const ReduceOp op : kAllReduceOps) {
    if (cohort::name(op) == name) return op;
  }
  return std::nullopt;
}

}  // namespace cohort

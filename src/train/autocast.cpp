#include <cohort/autocast.h>

#include <ATen/autocast_mode.h>

namespace cohort {

// The nesting count of torch decides when its own guards clear the list of converted weights; the list is
// cleared here at both ends besides, since an outer guard may live for several steps.
Autocast::Autocast(ComputeType compute)
    : was_enabled_(at::autocast::is_autocast_enabled(at::kCPU)),
      type_before_(static_cast<int>(at::autocast::get_autocast_dtype(at::kCPU))) {
  at::autocast::clear_cache();
  at::autocast::increment_nesting();
  const bool is_bf16 = resolved(compute) == ComputeType::kBF16;
  at::autocast::set_autocast_enabled(at::kCPU, is_bf16);
  if (is_bf16) at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
}

Autocast::~Autocast() {
  at::autocast::set_autocast_enabled(at::kCPU, was_enabled_);
  at::autocast::set_autocast_dtype(at::kCPU, static_cast<at::ScalarType>(type_before_));
  at::autocast::decrement_nesting();
  at::autocast::clear_cache();
}

}  // namespace cohort

#include "state/position.h"

#include "layout/slice.h"
#include <cohort/numbers.h>

namespace cohort::state {
namespace {

template <class Number>
Piece field(const char* name, Number& number) {
  return {.name = name,
          .dtype = dtype_of<Number>(),
          .shape = {},
          .mine = whole({}),
          .bytes = std::as_writable_bytes(std::span(&number, 1))};
}

}  // namespace

void visit(Position& position, const StateVisitor& visitor) {
  visitor(field("position/step", position.step));
  visitor(field("position/epoch", position.epoch));
  visitor(field("position/step_in_epoch", position.step_in_epoch));
  visitor(field("position/samples", position.samples));
  visitor(field("position/evaluations_since_best", position.evaluations_since_best));
  visitor(field("position/best_loss", position.best_loss));
  visitor(field("position/skipped_steps", position.skipped_steps));
  visitor(field("position/loss_scale", position.loss_scale));
  visitor(field("position/growth_tracker", position.growth_tracker));
  visitor(field("position/overflows_in_row", position.overflows_in_row));
  visitor(field("position/f32_stages", position.f32_stages));
  visitor(field("position/f32_until", position.f32_until));
  visitor(field("position/plateau_best", position.plateau.best));
  visitor(field("position/plateau_num_bad", position.plateau.num_bad));
  visitor(field("position/plateau_cooldown_left", position.plateau.cooldown_left));
  visitor(field("position/plateau_reductions", position.plateau.reductions));
  visitor(field("position/epoch_loss", position.epoch_loss));
  visitor(field("position/epoch_weight", position.epoch_weight));
}

}  // namespace cohort::state

#include <cohort/state_copies.h>

#include "base/home_process.h"
#include "train/kept_state.h"
#include <cohort/context.h>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

namespace cohort {

struct StateCopies::Parts {
  Context* const context;  // null: a Trainer alone uses the copies
  train::KeptState kept;
  std::optional<std::uint32_t> generation{};  // that keep() and restore() have joined
  HomeProcess home{};

  void join();
};

void StateCopies::Parts::join() {
  if (context == nullptr) throw UsageError("copies that were made without a Context are for a Trainer");
  kept.join(context->communicator());
  generation = context->generation();
}

namespace {

std::vector<Piece> pieces_in(const StateCopies::Visit& visit) {
  std::vector<Piece> pieces;
  visit([&](const Piece& piece) { pieces.push_back(piece); });
  return pieces;
}

StateCopies::Visit visit_of(torch::nn::Module& module, torch::optim::Optimizer& optimizer) {
  return [&](const StateVisitor& visitor) { visit_state(module, optimizer, visitor); };
}

}  // namespace

StateCopies::StateCopies(Context& context)
    : parts_(new Parts{.context = &context, .kept = train::KeptState(context.arena())}) {}

StateCopies::StateCopies(Arena& arena)
    : parts_(new Parts{.context = nullptr, .kept = train::KeptState(arena)}) {}

StateCopies::~StateCopies() {
  if (!parts_->home.is_here()) (void)parts_.release();
}

void StateCopies::keep(std::int64_t steps, torch::nn::Module& module, torch::optim::Optimizer& optimizer) {
  keep(steps, visit_of(module, optimizer));
}

void StateCopies::keep(std::int64_t steps, const Visit& visit) {
  if (parts_->context == nullptr || parts_->generation != parts_->context->generation()) parts_->join();
  parts_->kept.keep(steps, pieces_in(visit));
}

std::int64_t StateCopies::restore(torch::nn::Module& module, torch::optim::Optimizer& optimizer) {
  return restore(visit_of(module, optimizer));
}

// The version is kept again, so that it survives a second loss, too.
std::int64_t StateCopies::restore(const Visit& visit) {
  parts_->join();
  std::optional<Error> loss;
  auto version = parts_->kept.newest(loss);
  if (loss) raise(*loss);
  if (!version) return 0;
  const std::vector<Piece> pieces = pieces_in(visit);
  parts_->kept.fill(pieces, *version);
  version->source.reset();
  parts_->kept.keep(version->version, pieces);
  return version->version;
}

void StateCopies::give_back() {
  parts_->kept.give_back();
}

train::KeptState& StateCopies::kept() {
  return parts_->kept;
}

}  // namespace cohort

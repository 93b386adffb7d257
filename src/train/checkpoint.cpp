#include <cohort/checkpoint.h>

#include "base/home_process.h"
#include "comm/group/communicator.h"
#include "train/abort.h"
#include "train/bucket_order.h"
#include "train/optimizer_groups.h"
#include "train/snapshots.h"
#include <cohort/data_parallel.h>
#include <cohort/group.h>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

namespace cohort {

struct Checkpoint::Parts {
  std::shared_ptr<void> keeps{};  // before the rest, to be destroyed after it
  Communicator& group;
  torch::nn::Module& module;
  torch::optim::Optimizer& optimizer;
  DataParallel* const parallel;  // may be null
  const CheckpointOptions options;
  std::vector<std::function<void(const StateVisitor&)>> more{};
  train::Snapshots snapshots{group, options, options.directory};
  std::int64_t steps_done = 0;
  HomeProcess home{};

  void check();
  std::vector<Piece> pieces();
  std::int64_t resume(const std::string& path);
  void save(std::int64_t steps);
};

// Mistakes are noticed now, not at the first save.
void Checkpoint::Parts::check() {
  train::check_checkpoint_options(options);
  if (options.directory.empty()) {
    throw UsageError(UsageError("CheckpointOptions::directory is empty").with_remedy("Name a folder."));
  }
  (void)pieces();
}

std::vector<Piece> Checkpoint::Parts::pieces() {
  std::vector<Piece> all;
  const StateVisitor add = [&](const Piece& piece) { all.push_back(piece); };
  visit_state(module, optimizer, add);
  for (const auto& visit : more) visit(add);
  return all;
}

std::int64_t Checkpoint::Parts::resume(const std::string& path) {
  checkpoint::Course course;
  train::or_abort(group, [&] {
    std::vector<std::int64_t> order;
    (void)snapshots.resume(path, course,
                           [&](const checkpoint::Manifest& manifest) -> Result<std::vector<Piece>> {
                             order = manifest.course.bucket_order;
                             return pieces();
                           });
    if (parallel != nullptr && !order.empty()) train::set_bucket_order(*parallel, order);
    snapshots.open();
  });
  return steps_done = course.position.step;
}

void Checkpoint::Parts::save(std::int64_t steps) {
  checkpoint::Course course{.position = {.step = steps}, .config = options.config};
  course.optimizer_groups = train::optimizer_groups(optimizer, train::tensors_of(module));
  if (parallel != nullptr) course.bucket_order = train::bucket_order(*parallel);
  train::or_abort(group, [&] {
    snapshots.open();
    snapshots.save(pieces(), std::move(course));
  });
}

Checkpoint::Checkpoint(Group& group, torch::nn::Module& module, torch::optim::Optimizer& optimizer,
                       CheckpointOptions options)
    : parts_(new Parts{.keeps = group.hold(),
                       .group = group.communicator(),
                       .module = module,
                       .optimizer = optimizer,
                       .parallel = nullptr,
                       .options = std::move(options)}) {
  parts_->check();
}

Checkpoint::Checkpoint(Group& group, DataParallel& parallel, torch::nn::Module& module,
                       torch::optim::Optimizer& optimizer, CheckpointOptions options)
    : parts_(new Parts{.keeps = group.hold(),
                       .group = group.communicator(),
                       .module = module,
                       .optimizer = optimizer,
                       .parallel = &parallel,
                       .options = std::move(options)}) {
  parts_->check();
}

Checkpoint::~Checkpoint() {
  if (!parts_->home.is_here()) (void)parts_.release();
}

void Checkpoint::also(std::function<void(const StateVisitor&)> visit) {
  parts_->more.push_back(std::move(visit));
}

std::int64_t Checkpoint::resume() {
  return parts_->resume("");
}

std::int64_t Checkpoint::resume(const std::string& path) {
  return parts_->resume(path);
}

void Checkpoint::step_done(std::int64_t steps) {
  parts_->steps_done = steps;
  bool is_due = parts_->snapshots.is_due(steps);
  if (parts_->options.every_time) {  // by the clock of rank 0
    std::uint8_t flag = is_due ? 1 : 0;
    value_or_throw(parts_->group.run(broadcast(std::span(&flag, 1), 0)));
    is_due = flag != 0;
  }
  if (is_due) parts_->save(steps);
}

void Checkpoint::save(std::int64_t steps) {
  parts_->steps_done = steps;
  parts_->save(steps);
}

void Checkpoint::finish() {
  train::or_abort(parts_->group, [&] { parts_->snapshots.wait(); });
  if (parts_->snapshots.saved_step() == parts_->steps_done) return;
  parts_->save(parts_->steps_done);
  train::or_abort(parts_->group, [&] { parts_->snapshots.wait(); });
  if (const auto failure = parts_->snapshots.last_failure()) raise(*failure);
}

std::vector<CheckpointReport> Checkpoint::reports() {
  return parts_->snapshots.take_reports();
}

}  // namespace cohort

#pragma once

#include "comm/call.h"

#include <ATen/core/Tensor.h>
#include <chrono>
#include <functional>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

namespace cohort::c10d_plugin {

/// What one call of torch becomes: calls of ours, the tensors they work on, and what is left to do when they
/// are done. Tensors that do not lie in one piece are copied on the way in and out.
///
///     Task task(OpType::ALLREDUCE);
///     task.call(all_reduce(task.in_place(tensor)));
///
/// Threads: made by one, finished by another.
class Task {
 public:
  explicit Task(::c10d::OpType type) : type_(type) {}

  /// As bytes, whatever they mean: for what only moves.
  ConstNumbers bytes_from(const at::Tensor& tensor);
  Numbers bytes_into(const at::Tensor& tensor);
  Numbers bytes_in_place(const at::Tensor& tensor);
  /// As numbers that can be combined.
  ConstNumbers numbers_from(const at::Tensor& tensor);
  Numbers numbers_into(const at::Tensor& tensor);
  Numbers numbers_in_place(const at::Tensor& tensor);

  /// Several tensors one after the other in one piece: as they lie, or in a copy.
  ConstNumbers bytes_from(const std::vector<at::Tensor>& tensors);
  Numbers bytes_into(const std::vector<at::Tensor>& tensors);
  ConstNumbers numbers_from(const std::vector<at::Tensor>& tensors);

  void call(const Call& call) { calls_.push_back(call); }
  /// Lets a call that may not read where it writes read a copy instead.
  void set_apart(Call& call);
  /// What the future will hold, and result().
  void give(const std::vector<at::Tensor>& outputs) { outputs_ = outputs; }
  /// What a profiler shows the shapes of.
  void show(const std::vector<at::Tensor>& inputs) { shown_ = inputs; }
  /// Done at the end, after copies.
  void at_end(std::function<void()> step) { steps_.push_back(std::move(step)); }

  ::c10d::OpType type() const { return type_; }
  const std::vector<Call>& calls() const { return calls_; }
  std::vector<Call>& calls() { return calls_; }
  const std::vector<at::Tensor>& outputs() const { return outputs_; }
  const std::vector<at::Tensor>& shown() const { return shown_; }
  void finish() const;

 private:
  const at::Tensor& keep(at::Tensor tensor);
  at::Tensor readable(const at::Tensor& tensor);
  at::Tensor writable(const at::Tensor& tensor, bool is_read);
  at::Tensor readable(const std::vector<at::Tensor>& tensors);

  ::c10d::OpType type_;
  std::vector<Call> calls_;
  std::vector<at::Tensor> outputs_;
  std::vector<at::Tensor> shown_;
  std::vector<at::Tensor> kept_;  // while the calls go on
  std::vector<std::function<void()>> steps_;
};

/// Elements of each, in bytes where they only move; a complex one is two.
std::vector<std::size_t> byte_counts(const std::vector<at::Tensor>& tensors);
std::vector<std::size_t> counts(const std::vector<at::Tensor>& tensors);

}  // namespace cohort::c10d_plugin

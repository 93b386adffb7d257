#pragma once

#include "comm/group/call.h"

#include <ATen/core/Tensor.h>
#include <chrono>
#include <functional>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

namespace cohort::c10d_plugin {

/// One operation of torch.distributed as Cohort calls, with the tensors they use and the steps that follow
/// them. Tensors that are not contiguous are copied on the way in and out.
///
///     Task task(OpType::ALLREDUCE);
///     task.call(all_reduce(task.in_place(tensor)));
///
/// Threads: one at a time; one thread may build the task and another finish it.
class Task {
 public:
  explicit Task(::c10d::OpType type) : type_(type) {}

  // Buffers as bytes, for operations that only move data: to read, to write, or both.
  ConstNumbers bytes_from(const at::Tensor& tensor);
  Numbers bytes_into(const at::Tensor& tensor);
  Numbers bytes_in_place(const at::Tensor& tensor);
  // Buffers as numbers, for operations that combine.
  ConstNumbers numbers_from(const at::Tensor& tensor);
  Numbers numbers_into(const at::Tensor& tensor);
  Numbers numbers_in_place(const at::Tensor& tensor);

  // One buffer for several tensors: their own memory if they lie one after the other, else a copy.
  ConstNumbers bytes_from(const std::vector<at::Tensor>& tensors);
  Numbers bytes_into(const std::vector<at::Tensor>& tensors);
  ConstNumbers numbers_from(const std::vector<at::Tensor>& tensors);

  void call(const Call& call) { calls_.push_back(call); }
  /// Gives a call whose input overlaps its output a copy of the input.
  void set_apart(Call& call);
  /// Sets the result of the work and of its future.
  void give(const std::vector<at::Tensor>& outputs) { outputs_ = outputs; }
  /// Sets the tensors whose shapes profilers show.
  void show(const std::vector<at::Tensor>& inputs) { shown_ = inputs; }
  /// Adds a step for finish().
  void at_end(std::function<void()> step) { steps_.push_back(std::move(step)); }

  /// Sets the function for end(); it may be empty.
  void when_ended(std::function<void()> ended) { ended_ = std::move(ended); }

  ::c10d::OpType type() const { return type_; }
  const std::vector<Call>& calls() const { return calls_; }
  std::vector<Call>& calls() { return calls_; }
  const std::vector<at::Tensor>& outputs() const { return outputs_; }
  const std::vector<at::Tensor>& shown() const { return shown_; }
  /// Runs the steps, once all calls have succeeded.
  void finish() const;
  /// Tells that the calls have ended, with or without success.
  void end() const {
    if (ended_) ended_();
  }

 private:
  const at::Tensor& keep(at::Tensor tensor);
  at::Tensor readable(const at::Tensor& tensor);
  at::Tensor writable(const at::Tensor& tensor, bool is_read);
  at::Tensor readable(const std::vector<at::Tensor>& tensors);

  ::c10d::OpType type_;
  std::vector<Call> calls_;
  std::vector<at::Tensor> outputs_;
  std::vector<at::Tensor> shown_;
  std::vector<at::Tensor> kept_;  // buffers of the calls
  std::vector<std::function<void()>> steps_;
  std::function<void()> ended_;
};

/// Bytes of each tensor; numbers of each tensor, where a complex number counts as two.
std::vector<std::size_t> byte_counts(const std::vector<at::Tensor>& tensors);
std::vector<std::size_t> counts(const std::vector<at::Tensor>& tensors);

}  // namespace cohort::c10d_plugin

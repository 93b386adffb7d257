#include "backend.h"
#include "tensor_checks.h"

// Point-to-point messages.

namespace cohort::c10d_plugin {
namespace {

using ::c10d::OpType;

std::uint32_t tag_of(int tag) {
  TORCH_CHECK(tag >= 0, "cohort: tag is ", tag, ", expected at least 0");
  return static_cast<std::uint32_t>(tag);
}

}  // namespace

CohortBackend::Work CohortBackend::send(Tensors& tensors, int to, int tag) {
  Task task(OpType::SEND);
  task.show(tensors);
  task.call(cohort::send(task.bytes_from(only(tensors)), to, tag_of(tag)));
  return launch(std::move(task), true, ::c10d::kUnsetTimeout);
}

CohortBackend::Work CohortBackend::recv(Tensors& tensors, int from, int tag) {
  Task task(OpType::RECV);
  task.show(tensors);
  task.call(cohort::recv(task.bytes_in_place(only(tensors)), from, tag_of(tag)).or_fewer());
  task.give(tensors);
  Work work = launch(std::move(task), true, ::c10d::kUnsetTimeout);
  static_cast<CohortWork&>(*work).set_source(std::make_shared<int>(from));
  return work;
}

CohortBackend::Work CohortBackend::recvAnysource(Tensors& tensors, int tag) {
  Task task(OpType::RECVANYSOURCE);
  task.show(tensors);
  const auto source = std::make_shared<int>(kAnyRank);
  task.call(recv_any(task.bytes_in_place(only(tensors)), *source, tag_of(tag)).or_fewer());
  task.at_end([source] {});  // keeps `source` alive as long as the task
  task.give(tensors);
  Work work = launch(std::move(task), true, ::c10d::kUnsetTimeout);
  static_cast<CohortWork&>(*work).set_source(source);
  return work;
}

}  // namespace cohort::c10d_plugin

#include "work.h"

#include <mutex>
#include <set>

namespace cohort::c10d_plugin {
namespace {

using ::c10d::OpType;

// The names that torch's own backends use.
const char* operation_name(OpType type) {
  switch (type) {
    case OpType::BROADCAST:
      return "broadcast";
    case OpType::ALLREDUCE:
    case OpType::ALLREDUCE_COALESCED:
      return "all_reduce";
    case OpType::_ALLREDUCE_SPARSE:
      return "sparse_all_reduce";
    case OpType::REDUCE:
      return "reduce";
    case OpType::ALLGATHER:
    case OpType::_ALLGATHER_BASE:
    case OpType::ALLGATHER_COALESCED:
    case OpType::COALESCED:
      return "all_gather";
    case OpType::GATHER:
      return "gather";
    case OpType::SCATTER:
      return "scatter";
    case OpType::REDUCE_SCATTER:
    case OpType::_REDUCE_SCATTER_BASE:
    case OpType::REDUCE_SCATTER_TENSOR_COALESCED:
      return "reduce_scatter";
    case OpType::ALLTOALL:
    case OpType::ALLTOALL_BASE:
      return "all_to_all";
    case OpType::SEND:
      return "send";
    case OpType::RECV:
      return "recv";
    case OpType::RECVANYSOURCE:
      return "recvAnySource";
    case OpType::BARRIER:
      return "barrier";
    default:
      return "work";
  }
}

}  // namespace

const char* title_of(const std::string& backend, OpType type) {
  static auto* const titles = new std::set<std::string>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return titles->insert(backend + ":" + operation_name(type)).first->c_str();
}

}  // namespace cohort::c10d_plugin

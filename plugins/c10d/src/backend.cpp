#include "backend.h"

#include "arena_allocator.h"
#include "at_once.h"
#include "without_python.h"

#include <ATen/EmptyTensor.h>
#include <algorithm>
#include <fmt/format.h>

// Creation and end of a backend, and how it launches tasks.

namespace cohort::c10d_plugin {
namespace {

constexpr std::chrono::seconds kFarewell{5};
// Longer timeouts are cut to this.
constexpr std::chrono::hours kLongest{24 * 365};

ReduceOp op_of(const ::c10d::ReduceOp& op) {
  switch (op.op_) {
    case ::c10d::ReduceOp::SUM:
      return ReduceOp::kSum;
    case ::c10d::ReduceOp::AVG:
      return ReduceOp::kMean;
    case ::c10d::ReduceOp::PRODUCT:
      return ReduceOp::kProduct;
    case ::c10d::ReduceOp::MIN:
      return ReduceOp::kMin;
    case ::c10d::ReduceOp::MAX:
      return ReduceOp::kMax;
    case ::c10d::ReduceOp::BAND:
      return ReduceOp::kAnd;
    case ::c10d::ReduceOp::BOR:
      return ReduceOp::kOr;
    case ::c10d::ReduceOp::BXOR:
      return ReduceOp::kXor;
    default:
      C10_THROW_ERROR(
          Error,
          "cohort: this ReduceOp is not supported; instead of PREMUL_SUM scale the tensor and use "
          "SUM");
  }
}

}  // namespace

c10::intrusive_ptr<CohortBackend> CohortBackend::make(const Membership& membership,
                                                      c10::intrusive_ptr<Options> options) {
  Result<Joined> joined = join(membership);
  if (!joined) {
    const Error error = joined.error().within(
        fmt::format("rank {} of {} cannot join the process group", membership.rank, membership.world));
    if (error.code() == ErrorCode::kTimedOut) {
      C10_THROW_ERROR(DistStoreError, "cohort: Timed out in " + error.text());  // as Gloo
    }
    raise_for_torch(error);
  }
  return c10::make_intrusive<CohortBackend>(membership.rank, membership.world, std::move(options),
                                            std::move(*joined));
}

CohortBackend::CohortBackend(int rank, int world, c10::intrusive_ptr<Options> options, Joined joined)
    : Backend(rank, world),
      options_(std::move(options)),
      store_(std::move(joined.store)),
      arena_(std::move(joined.arena)),
      recorder_(std::make_shared<FlightRecorder>(ranks_of_job())),
      group_(std::move(joined.group)) {}

// A short limit: a program that ends because of a failure must not wait long for other ranks.
CohortBackend::~CohortBackend() {
  end_within(kFarewell);
}

// A forked child leaks these objects on purpose: their threads and connections belong to the parent, and a
// thread of the parent may wait for the open tasks.
void CohortBackend::leave_to_parent() {
  new auto(std::move(group_));
  new auto(arena_);
  new auto(open_tasks_);
}

void CohortBackend::shutdown() {
  end_within(limit_of(::c10d::kUnsetTimeout) + kFarewell);
}

// Waits for asynchronous calls that are still in flight, even if no thread of this process waits for them:
// other ranks may. A failure of the group ends all of them.
void CohortBackend::end_within(std::chrono::nanoseconds limit) {
  if (!home_.is_here()) return leave_to_parent();
  const WithoutPython without_python;
  std::shared_ptr<Communicator> group;
  {
    const std::lock_guard lock(mutex_);
    group = std::exchange(group_, nullptr);
  }
  if (!group) return;
  open_tasks_->wait_for_none(limit);
  if (group->failure()) give_no_more_of(arena_);
}

void CohortBackend::abort() {
  if (!home_.is_here()) return leave_to_parent();
  const std::lock_guard lock(mutex_);
  if (group_) group_->abort(Error(ErrorCode::kAborted, "the process group was aborted"));
}

std::shared_ptr<Communicator> CohortBackend::group() const {
  TORCH_CHECK(
      home_.is_here(),
      "cohort: this process group belongs to the parent of this forked child. Make calls in the parent, "
      "or start the child by spawn and let it call init_process_group.");
  const std::lock_guard lock(mutex_);
  TORCH_CHECK(group_ != nullptr, "cohort: this process group was shut down");
  return group_;
}

std::string CohortBackend::kind() const {
  return group()->traits().kind;
}

::c10d::ErrorType CohortBackend::getError() {
  const std::lock_guard lock(mutex_);
  const std::optional<Error> failure = group_ ? group_->failure() : std::nullopt;
  if (!failure) return ::c10d::ErrorType::SUCCESS;
  if (failure->code() == ErrorCode::kTimedOut) return ::c10d::ErrorType::TIMEOUT;
  return failure->code() == ErrorCode::kPeerLost ? ::c10d::ErrorType::REMOTE_ERROR
                                                 : ::c10d::ErrorType::COMM_ERROR;
}

at::Tensor CohortBackend::allocateTensor(long size, at::TensorOptions options) {
  TORCH_CHECK(size >= 0, "cohort: number of elements is ", size, ", expected at least 0");
  TORCH_CHECK(options.device().is_cpu(), "cohort: device is ", options.device(),
              ", expected cpu: ranks share CPU memory only");
  const c10::ScalarType type = c10::typeMetaToScalarType(options.dtype());
  return at::detail::empty_generic({size}, &tensors_, c10::DispatchKeySet(c10::DispatchKey::CPU), type,
                                   std::nullopt);
}

std::chrono::nanoseconds CohortBackend::limit_of(std::chrono::milliseconds timeout) const {
  const auto said = timeout >= std::chrono::milliseconds::zero() ? timeout : options_->timeout;
  return std::clamp<std::chrono::milliseconds>(said, std::chrono::milliseconds(1), kLongest);
}

CohortBackend::Work CohortBackend::launch(Task task, bool is_async, std::chrono::milliseconds timeout) {
  const std::chrono::nanoseconds limit = limit_of(timeout);
  for (Call& call : task.calls()) {
    if (check_call(call, rank_, size_)) continue;
    task.set_apart(call);
    if (const Status fault = check_call(call, rank_, size_); !fault) {
      C10_THROW_ERROR(Error, fault.error().text());
    }
  }
  const std::shared_ptr<Communicator> talking = group();
  const std::uint64_t number = ++num_calls_;
  const char* const title = title_of(options_->backend, task.type());
  auto work = c10::make_intrusive<CohortWork>(rank_, task, title, number);
  task.when_ended(
      recorder_->record(*this, {.task = task,
                                .title = title,
                                .number = number,
                                .limit = std::chrono::duration_cast<std::chrono::milliseconds>(limit)}));
  if (is_async && !calls_run_at_once) {
    work->start(std::move(task), *talking, limit, open_tasks_);
  } else {
    work->run(task, *talking, limit);
  }
  return work;
}

ReduceOp op_for(const at::Tensor& tensor, const ::c10d::ReduceOp& op) {
  const ReduceOp own = op_of(op);
  TORCH_CHECK(!tensor.is_complex() || own == ReduceOp::kSum || own == ReduceOp::kMean,
              "cohort: complex tensors can be reduced with SUM and AVG only");
  return own;
}

}  // namespace cohort::c10d_plugin

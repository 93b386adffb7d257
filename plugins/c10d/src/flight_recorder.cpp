#include "flight_recorder.h"

#include "hidden_functions.h"

#include <c10/core/Event.h>
#include <cstring>
#include <optional>
#include <torch/csrc/distributed/c10d/FlightRecorder.hpp>

// torch has one flight recorder for CPU backends, and does not export it: its methods are marked for export,
// but their class is a template whose argument, c10::Event, is not. So they are looked up in the symbol
// table.

namespace cohort::c10d_plugin {
namespace {

using Recorder = ::c10d::FlightRecorder<c10::Event>;
using ::c10d::OpType;

// torch numbers the groups of its own backends from 0.
constexpr std::size_t kFirstGroup = 1000;
constexpr int kUsualNumberOfEntries = 2000;

// Types from torch's header, so that the compiler checks the calls.
struct Methods {
  Recorder* recorder;
  void (Recorder::*record_ranks)(const std::tuple<std::string, std::string>&, std::vector<std::uint64_t>);
  decltype(&Recorder::recordWithResetEnabled) record;
  void (Recorder::*retire)(std::optional<std::size_t>, std::optional<std::size_t>, bool);
};

// A pointer to a method that is not virtual is its address and an offset for `this`.
template <class Method>
void set_method(Method& method, void* address) {
  const struct {
    void* address;
    std::ptrdiff_t offset;
  } parts{address, 0};
  static_assert(sizeof parts == sizeof method);
  std::memcpy(&method, &parts, sizeof parts);
}

// Whether torch records at all; as torch itself reads it.
bool is_enabled() {
  return ::c10d::getCvarInt({"TORCH_FR_BUFFER_SIZE", "TORCH_NCCL_TRACE_BUFFER_SIZE"}, kUsualNumberOfEntries) >
         0;
}

std::optional<Methods> find_methods() {
  if (!is_enabled()) return std::nullopt;
  const std::vector<void*> found = hidden_functions(
      {.address = reinterpret_cast<const void*>(&::c10d::dump_fr_trace_json),
       .name = "_ZN4c10d18dump_fr_trace_jsonB5cxx11Ebb"},
      {"_ZN4c10d14FlightRecorderIN3c105EventEE3getEv",
       "_ZN4c10d14FlightRecorderIN3c105EventEE15record_pg_ranksERKSt5tupleIJNSt7__cxx1112basic_"
       "stringIcSt11char_"
       "traitsIcESaIcEEESA_EESt6vectorImSaImEE",
       "_ZN4c10d14FlightRecorderIN3c105EventEE22recordWithResetEnabledEmRKSt5tupleIJNSt7__cxx1112basic_"
       "stringIcSt11char_traitsIcESaIcEEESA_EEmmmSA_RKSt6vectorIN2at6TensorESaISG_EESK_PS2_SL_"
       "NSt6chrono8durationIlSt5ratioILl1ELl1000EEEESt10shared_ptrINS_18ProcessGroupStatusEEb",
       "_ZN4c10d14FlightRecorderIN3c105EventEE9retire_idESt8optionalImES5_b"});
  if (found.empty()) return std::nullopt;
  Methods methods{};
  methods.recorder = reinterpret_cast<Recorder* (*)()>(found[0])();
  set_method(methods.record_ranks, found[1]);
  set_method(methods.record, found[2]);
  set_method(methods.retire, found[3]);
  return methods;
}

const std::optional<Methods>& methods() {
  static const std::optional<Methods> found = find_methods();
  return found;
}

bool is_message(OpType type) {
  return type == OpType::SEND || type == OpType::RECV || type == OpType::RECVANYSOURCE;
}

std::size_t next_group_id() {
  static std::atomic<std::size_t> next = kFirstGroup;
  return next++;
}

// The recorder reads the number while other threads write it.
void set(std::int64_t& number, std::uint64_t to) {
  std::atomic_ref(number).store(static_cast<std::int64_t>(to), std::memory_order_relaxed);
}

}  // namespace

FlightRecorder::FlightRecorder(std::vector<std::uint64_t> ranks)
    : group_id_(next_group_id()),
      status_(std::make_shared<::c10d::ProcessGroupStatus>()),
      ranks_(std::move(ranks)) {
  methods();  // now, because the first search takes tens of milliseconds
}

bool FlightRecorder::is_recording() {
  return methods().has_value();
}

std::function<void()> FlightRecorder::record(const ::c10d::Backend& group, const Item& item) {
  if (!methods()) return {};
  const Methods& theirs = *methods();
  std::call_once(named_, [&] {
    name_ = {group.getGroupUid(), group.getGroupDesc()};
    (theirs.recorder->*theirs.record_ranks)(name_, ranks_);
  });
  const bool is_p2p = is_message(item.task.type());
  ++(is_p2p ? num_messages_ : num_collectives_);
  set(status_->lastEnqueuedSeq, item.number);
  const Recorder::TraceIdentifier entry = (theirs.recorder->*theirs.record)(
      group_id_, name_, num_collectives_, num_messages_, item.number, item.title, item.task.shown(),
      item.task.outputs(), nullptr, nullptr, item.limit, status_, is_p2p);
  if (!entry.id) return {};
  return [self = shared_from_this(), &theirs, entry, number = item.number] {
    set(self->status_->lastCompletedSeq, number);
    (theirs.recorder->*theirs.retire)(entry.id, entry.reset_epoch, false);
  };
}

}  // namespace cohort::c10d_plugin

#include "arena_allocator.h"
#include "at_once.h"
#include "backend.h"
#include "callbacks.h"

#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

namespace cohort::c10d_plugin {
namespace {

namespace py = pybind11;

c10::intrusive_ptr<CohortBackend> create(const ::c10d::DistributedBackendOptions& said,
                                         const std::string& name) {
  // Clamped: a float of seconds may not fit into the int64 of milliseconds.
  const auto seconds = std::chrono::duration<float>(std::clamp(said.timeout.count(), 0.001F, 3e7F));
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(seconds);
  auto options = c10::make_intrusive<::c10d::Backend::Options>(name, timeout);
  options->group_name = said.group_id;
  for (const std::int64_t rank : said.global_ranks_in_group) {
    options->global_ranks_in_group.push_back(static_cast<std::uint64_t>(rank));
  }
  return CohortBackend::make(
      {.store = said.store, .rank = said.group_rank, .world = said.group_size, .limit = timeout},
      std::move(options));
}

const CohortBackend& ours(const c10::intrusive_ptr<::c10d::Backend>& backend) {
  const auto* const found = dynamic_cast<const CohortBackend*>(backend.get());
  TORCH_CHECK_TYPE(found != nullptr, "the backend of this group is ", backend->getBackendName(),
                   ", expected cohort");
  return *found;
}

std::string kind(const c10::intrusive_ptr<::c10d::Backend>& backend) {
  return ours(backend).kind();
}

void allocate_in_arena_of(const c10::intrusive_ptr<::c10d::Backend>& backend, std::size_t at_least) {
  allocate_in(ours(backend).arena(), at_least);
}

}  // namespace
}  // namespace cohort::c10d_plugin

PYBIND11_MODULE(_C, module) {
  using namespace cohort::c10d_plugin;
  module.doc() = "Cohort's communicator as a backend of torch.distributed.";
  pybind11::class_<CohortBackend, c10::intrusive_ptr<CohortBackend>, ::c10d::Backend>(module, "CohortBackend")
      .def_property_readonly("options", &CohortBackend::getBackendOptions);
  module.def("create", &create, pybind11::arg("options"), pybind11::arg("name"),
             pybind11::call_guard<pybind11::gil_scoped_release>());
  module.def("kind", &kind);
  pybind11::module_::import("atexit").attr("register")(pybind11::cpp_function(
      [] { Callbacks::of_process().drain(); }, pybind11::call_guard<pybind11::gil_scoped_release>()));
  module.def("run_at_once", [](bool at_once) { calls_run_at_once = at_once; });
  module.def("records_flight", &FlightRecorder::is_recording);
  module.def("allocate_in_arena", &allocate_in_arena_of);
  module.def("allocate_as_usual", &allocate_as_usual);
}

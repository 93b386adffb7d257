# Precompiled headers for the whole build: reading headers is most of the time a file takes.
#   cohort_precompiled_plain    the standard library's and fmt's, below the torch line: every torch-free folder has it
#   cohort_precompiled_tool     that and CLI11
#   cohort_precompiled_test     that and GoogleTest (tests/CMakeLists.txt)
#   cohort_precompiled_tensor   ATen and the autograd engine: files that work on tensors
#   cohort_precompiled_nn       torch/nn.h: files that define or train modules
# A target takes one with cohort_precompile(<target> plain|tool|test|tensor|nn). With COHORT_PRECOMPILE_PLAIN off, as in the preset
# gcc, torch-free files see only what they include themselves.
option(COHORT_PRECOMPILE_PLAIN "Precompile the headers that torch-free files share" ON)

# libtorch as Cohort's own files see it. Its include folder carries a fmt of its own, newer than the distribution's and
# without a compiled half: files above the torch line get that one, header-only.
add_library(cohort_torch INTERFACE)
target_link_libraries(cohort_torch INTERFACE libtorch::torch)
target_compile_definitions(cohort_torch INTERFACE FMT_HEADER_ONLY=1)

function(_cohort_precompiled name)
  set(target cohort_precompiled_${name})
  set(source "${CMAKE_BINARY_DIR}/precompiled/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Carrier of a precompiled header.\n")
  add_library(${target} OBJECT "${source}")
  target_link_libraries(${target} PRIVATE cohort_options)
  if(name MATCHES "tensor|nn")
    target_link_libraries(${target} PRIVATE cohort_torch)
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

if(COHORT_PRECOMPILE_PLAIN)
  set(_plain <algorithm> <array> <atomic> <chrono> <condition_variable> <functional> <map> <memory> <mutex> <optional> <set>
    <span> <string> <string_view> <thread> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
  _cohort_precompiled(plain ${_plain})
  _cohort_precompiled(tool ${_plain} <CLI/CLI.hpp>)
endif()
_cohort_precompiled(tensor
  <ATen/ATen.h>
  <torch/csrc/autograd/custom_function.h>
  <torch/csrc/autograd/engine.h>
  <torch/csrc/autograd/function.h>
  <torch/csrc/autograd/variable.h>)
_cohort_precompiled(nn <torch/nn.h>)

function(cohort_precompile target name)
  if(name MATCHES "plain|tool|test" AND NOT COHORT_PRECOMPILE_PLAIN)
    return()
  endif()
  target_precompile_headers(${target} REUSE_FROM cohort_precompiled_${name})
  if(name STREQUAL test)
    target_compile_options(${target} PRIVATE ${COHORT_TEST_OPTIMIZE})  # as the header was compiled
  endif()
endfunction()

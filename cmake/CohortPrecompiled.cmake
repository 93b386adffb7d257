# Two precompiled headers for the whole build. With clang they bring a torch file from 6-15 s down to 0.4-1.9 s.
#   cohort_precompiled_tensor   ATen and the autograd engine: files that work on tensors
#   cohort_precompiled_nn       torch/nn.h: files that define or train modules
# A target takes one with cohort_precompile(<target> tensor|nn).

function(_cohort_precompiled name)
  set(target cohort_precompiled_${name})
  set(source "${CMAKE_BINARY_DIR}/precompiled/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Carrier of a precompiled header.\n")
  add_library(${target} OBJECT "${source}")
  target_link_libraries(${target} PRIVATE cohort_options libtorch::torch)
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

_cohort_precompiled(tensor
  <ATen/ATen.h>
  <torch/csrc/autograd/custom_function.h>
  <torch/csrc/autograd/engine.h>
  <torch/csrc/autograd/function.h>
  <torch/csrc/autograd/variable.h>)
_cohort_precompiled(nn <torch/nn.h>)

function(cohort_precompile target name)
  target_precompile_headers(${target} REUSE_FROM cohort_precompiled_${name})
endfunction()

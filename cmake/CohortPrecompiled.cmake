# Precompiled headers for the whole build: parsing headers takes most of the compile time of a file.
#   cohort_precompiled_plain    standard library and fmt: every folder below the torch line
#   cohort_precompiled_tool     plain, CLI11 and JSON
#   cohort_precompiled_test     plain and GoogleTest (tests/CMakeLists.txt)
#   cohort_precompiled_nn       torch/nn.h: files above the torch line
# A target uses one with cohort_precompile(<target> plain|tool|test|nn). With COHORT_PRECOMPILE_PLAIN off, as in the preset
# gcc, torch-free files see only the headers that they include themselves.
option(COHORT_PRECOMPILE_PLAIN "Precompile the headers that torch-free files share" ON)

# libtorch for files of Cohort. Its include folder has its own fmt, newer than that of the distribution and
# without a compiled half: files above the torch line use that fmt, header-only.
add_library(cohort_torch INTERFACE)
target_link_libraries(cohort_torch INTERFACE libtorch::torch)
target_compile_definitions(cohort_torch INTERFACE FMT_HEADER_ONLY=1)

function(_cohort_precompiled name)
  set(target cohort_precompiled_${name})
  set(source "${CMAKE_BINARY_DIR}/precompiled/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Carrier of a precompiled header.\n")
  add_library(${target} OBJECT "${source}")
  target_link_libraries(${target} PRIVATE cohort_options)
  set(torch_includes "")
  if(name STREQUAL nn)
    target_link_libraries(${target} PRIVATE cohort_torch)
    get_target_property(torch_includes libtorch::torch INTERFACE_INCLUDE_DIRECTORIES)
  endif()
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(COHORT_CCACHE)
    _cohort_sum_headers(${target} "${torch_includes}" ${ARGN})
  endif()
endfunction()

# Lays down the checksum of a precompiled header's content where cmake/compiler-cache looks for it.
function(_cohort_sum_headers target includes)
  list(TRANSFORM ARGN PREPEND "#include ")
  list(JOIN ARGN "\n" text)
  set(header "${CMAKE_BINARY_DIR}/precompiled/${target}.h")
  file(CONFIGURE OUTPUT "${header}" CONTENT "${text}\n" @ONLY)
  list(TRANSFORM includes PREPEND "-isystem")
  execute_process(COMMAND python3 "${PROJECT_SOURCE_DIR}/cmake/header_sum.py"
    "${CMAKE_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum" "${header}"
    "${CMAKE_CXX_COMPILER}" -std=c++20 -DFMT_HEADER_ONLY=1 ${includes} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(COHORT_PRECOMPILE_PLAIN)
  set(_plain <algorithm> <array> <atomic> <chrono> <condition_variable> <functional> <map> <memory> <mutex> <optional> <set>
    <span> <string> <string_view> <thread> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
  _cohort_precompiled(plain ${_plain})
  _cohort_precompiled(tool ${_plain} <CLI/CLI.hpp> <nlohmann/json.hpp>)
endif()
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

# What every target of the project shares: language, output places, warnings, sanitizers, compiler cache.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Programs are compiled like libraries, so that both can use the same precompiled headers.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

# Line tables are cheap, full debug information of torch headers is not: only the dev preset has the latter.
# The checks with sanitizers and the other compiler want to be built fast rather than to run fast.
set(COHORT_OPTIMIZE "-O2 -g1" CACHE STRING "How much a release build optimises")
set(CMAKE_CXX_FLAGS_RELEASE "${COHORT_OPTIMIZE}")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")

option(COHORT_WARNINGS_AS_ERRORS "Treat compiler warnings in Cohort's own code as errors" ON)
set(COHORT_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")

# Cohort's own code links this target. Third-party headers come in as system headers and stay silent.
add_library(cohort_options INTERFACE)
target_compile_options(cohort_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  # One rounding per written operation, so that the same source gives the same bits with every compiler.
  -ffp-contract=off
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/="
  $<$<BOOL:${COHORT_WARNINGS_AS_ERRORS}>:-Werror>)

if(COHORT_SANITIZE)
  target_compile_options(cohort_options INTERFACE
    -fsanitize=${COHORT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all -fno-sanitize=vptr)
  target_link_options(cohort_options INTERFACE -fsanitize=${COHORT_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND COHORT_SANITIZE STREQUAL thread)
    target_compile_options(cohort_options INTERFACE -Wno-tsan)
  endif()
endif()
if(COHORT_SANITIZE MATCHES address)
  add_library(cohort_sanitizer_settings OBJECT "${PROJECT_SOURCE_DIR}/cmake/sanitizer_settings.cpp")
  target_sources(cohort_options INTERFACE
    "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:cohort_sanitizer_settings>>")
endif()

find_program(COHORT_CCACHE ccache)
if(COHORT_CCACHE)
  # Precompiled headers are only cached when their time stamps are left out of the key.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime "${COHORT_CCACHE}")
  message(STATUS "ccache: ${COHORT_CCACHE}")
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    target_compile_options(cohort_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

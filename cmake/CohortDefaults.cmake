# Settings of every target: language, output folders, warnings, sanitizers, compiler cache.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Programs are compiled with -fPIC like libraries, so that both can use the same precompiled headers.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

# Debug information takes compile time, line tables alone (-g1) an eighth of it: a release build has none. The dev preset has
# all of it, the presets for sanitizers have line tables. They and the preset for g++ optimise less: their builds are run once.
set(COHORT_OPTIMIZE "-O2" CACHE STRING "Optimisation and debug flags of a release build")
set(CMAKE_CXX_FLAGS_RELEASE "${COHORT_OPTIMIZE}")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")

option(COHORT_WARNINGS_AS_ERRORS "Treat compiler warnings in Cohort's own code as errors" ON)
set(COHORT_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")

# All code of Cohort links this target. Third-party headers are system headers and give no warnings.
add_library(cohort_options INTERFACE)
target_compile_options(cohort_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  # No fused multiply-add: every operation rounds once, so all compilers give the same bits.
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


# ccache serves every clone on the machine: paths inside the project are made relative before they are hashed.
find_program(COHORT_CCACHE ccache)
if(COHORT_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_CURRENT_LIST_DIR}/compiler-cache" "${PROJECT_SOURCE_DIR}" "${COHORT_CCACHE}")
  message(STATUS "ccache: ${COHORT_CCACHE}")
  target_compile_options(cohort_options INTERFACE "-ffile-prefix-map=../../=")
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    target_compile_options(cohort_options INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endif()

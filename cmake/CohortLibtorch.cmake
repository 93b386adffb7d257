# Finds libtorch and makes the imported target libtorch::torch. Used by the build and, installed with the package
# config, by projects that use Cohort.
#
# The search order; the first folder with a libtorch is taken:
#   1. COHORT_LIBTORCH, as a CMake or environment variable: a wrong path is an error
#   2. the entries of CMAKE_PREFIX_PATH, as a CMake or environment variable
#   3. COHORT_PROJECT_VENV: the .venv of the project, if it exists
#   4. COHORT_BUILT_AGAINST: the libtorch in the folder of an installed Cohort
#   5. the torch of the active Python (found without importing it)
# A folder may be an unpacked libtorch zip, the folder `torch` of a wheel, or the `share/cmake` folder inside either.
#
# A project that also finds Torch must find the same libtorch: objects of two would meet in one program.
#
# The reasons for a target of our own instead of find_package(Torch) are in docs/decisions/0003-own-libtorch-target.md.

include_guard(GLOBAL)

# Sets `out` to the root (the folder with include/ and lib/) of the libtorch at `folder`, or to an empty string.
function(_cohort_libtorch_root folder out)
  set(${out} "" PARENT_SCOPE)
  foreach(root "${folder}" "${folder}/torch" "${folder}/libtorch" "${folder}/../.." "${folder}/../../..")
    if(EXISTS "${root}/lib/libtorch_cpu.so" AND EXISTS "${root}/lib/libc10.so"
       AND EXISTS "${root}/include/ATen/ATen.h")
      file(REAL_PATH "${root}" root)
      set(${out} "${root}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

function(_cohort_libtorch_version root out)
  set(version "")
  foreach(header include/torch/headeronly/version.h include/torch/csrc/api/include/torch/version.h)
    if(EXISTS "${root}/${header}")
      file(READ "${root}/${header}" text)
      if(text MATCHES "define TORCH_VERSION_MAJOR ([0-9]+).*define TORCH_VERSION_MINOR ([0-9]+).*define TORCH_VERSION_PATCH ([0-9]+)")
        set(version "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
        break()
      endif()
    endif()
  endforeach()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

function(_cohort_libtorch_of_python out)
  set(${out} "" PARENT_SCOPE)
  set(active "")
  if(DEFINED ENV{VIRTUAL_ENV})
    set(active "$ENV{VIRTUAL_ENV}/bin")
  endif()
  find_program(COHORT_ACTIVE_PYTHON NAMES python3 python HINTS ${active} NO_CACHE)
  if(NOT COHORT_ACTIVE_PYTHON)
    return()
  endif()
  execute_process(
    COMMAND "${COHORT_ACTIVE_PYTHON}" -c
      "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed TIMEOUT 30)
  if(NOT failed)
    set(${out} "${folder}" PARENT_SCOPE)
  endif()
endfunction()

# The libtorch_cpu.so of a CUDA build loads two small CUDA libraries. In pip they are packages of their own, which an
# installation without dependencies lacks.
function(_cohort_check_cuda_build root)
  execute_process(COMMAND ldd "${root}/lib/libtorch_cpu.so" OUTPUT_VARIABLE needed ERROR_QUIET)
  string(REGEX MATCHALL "[^ \t\n]+ => not found" missing "${needed}")
  if(NOT missing)
    return()
  endif()
  list(TRANSFORM missing REPLACE " => not found" "")
  list(JOIN missing ", " missing)
  set(cuda "<version>")
  if(EXISTS "${root}/version.py")
    file(READ "${root}/version.py" text)
    if(text MATCHES "cuda[^=\n]*= '([0-9.]+)'")
      set(cuda "${CMAKE_MATCH_1}.*")
    endif()
  endif()
  message(FATAL_ERROR
    "The libtorch in ${root} is a CUDA build and misses ${missing}. No CUDA toolkit is needed, only these libraries:\n"
    "  pip install --no-deps 'nvidia-cuda-runtime==${cuda}' 'nvidia-cuda-cupti==${cuda}'\n"
    "into the same Python; or use a CPU build of torch.")
endfunction()

# If there is a libtorch at `folder`, sets `root` and `why` in the caller of the calling function and returns from it.
macro(_cohort_take_if_libtorch folder reason)
  _cohort_libtorch_root("${folder}" root)
  if(root)
    set(root "${root}" PARENT_SCOPE)
    set(why "${reason}" PARENT_SCOPE)
    return()
  endif()
endmacro()

# Sets `root` and `why` in the caller, or leaves them unchanged if no libtorch was found.
function(_cohort_choose_libtorch)
  set(named "${COHORT_LIBTORCH}")
  if(NOT named)
    set(named "$ENV{COHORT_LIBTORCH}")
  endif()
  if(named)
    _cohort_take_if_libtorch("${named}" "named by COHORT_LIBTORCH")
    message(FATAL_ERROR
      "COHORT_LIBTORCH is '${named}', but there is no libtorch there: lib/libtorch_cpu.so and include/ATen/ATen.h are "
      "missing.\nName the folder of an unpacked libtorch zip, or the folder 'torch' in a Python's site-packages, "
      "or unset COHORT_LIBTORCH.")
  endif()

  string(REPLACE ":" ";" prefixes "$ENV{CMAKE_PREFIX_PATH}")
  foreach(folder IN LISTS CMAKE_PREFIX_PATH prefixes)
    _cohort_take_if_libtorch("${folder}" "named by CMAKE_PREFIX_PATH")
  endforeach()
  if(COHORT_PROJECT_VENV)
    file(GLOB folders "${COHORT_PROJECT_VENV}/lib/python3*/site-packages/torch")
    foreach(folder IN LISTS folders)
      _cohort_take_if_libtorch("${folder}" "in the project's .venv")
    endforeach()
  endif()
  if(COHORT_BUILT_AGAINST)
    _cohort_take_if_libtorch("${COHORT_BUILT_AGAINST}" "the libtorch of this Cohort")
  endif()
  _cohort_libtorch_of_python(folder)
  if(folder)
    _cohort_take_if_libtorch("${folder}" "the torch of the active Python")
  endif()
endfunction()

# Fails if the project has found Torch in another place than ours. Called when Cohort looks for libtorch, and again after the
# whole project was read, because Torch may be found later and in another folder of the project.
function(_cohort_check_one_libtorch ours)
  get_property(packages GLOBAL PROPERTY PACKAGES_FOUND)
  if(NOT "Torch" IN_LIST packages OR NOT Torch_DIR)
    return()
  endif()
  _cohort_libtorch_root("${Torch_DIR}" theirs)
  if(NOT theirs)
    file(REAL_PATH "${Torch_DIR}" theirs)
  endif()
  if(theirs STREQUAL ours)
    return()
  endif()
  message(FATAL_ERROR
    "Two libtorchs in one build: find_package(Torch) found ${theirs}, and Cohort uses ${ours}.\n"
    "Use one of them for both: -D COHORT_LIBTORCH=${theirs} if it has the version that Cohort was built with, or "
    "-D Torch_DIR=${ours}/share/cmake/Torch. Or remove find_package(Torch): cohort::cohort brings libtorch along.")
endfunction()

# cohort_find_libtorch(MINIMUM <version>)
# Sets COHORT_LIBTORCH_ROOT and COHORT_LIBTORCH_VERSION, and makes libtorch::torch.
function(cohort_find_libtorch)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "MINIMUM" "")
  set(root "")
  _cohort_choose_libtorch()
  if(NOT root)
    message(FATAL_ERROR
      "No libtorch found.\nRun `make setup` (it installs torch into the project's .venv), or name one: "
      "-D COHORT_LIBTORCH=<unpacked libtorch zip, or the folder 'torch' in a Python's site-packages>.")
  endif()

  _cohort_libtorch_version("${root}" version)
  if(NOT version)
    message(FATAL_ERROR "The libtorch in ${root} (${why}) has no version header; it may be damaged. "
      "Reinstall it, or name another with -D COHORT_LIBTORCH=<folder>.")
  endif()
  if(version VERSION_LESS arg_MINIMUM)
    message(FATAL_ERROR
      "The libtorch in ${root} (${why}) is ${version}; Cohort needs ${arg_MINIMUM} or newer.\n"
      "Upgrade it with `pip install --no-deps 'torch>=${arg_MINIMUM}'`, or name another with "
      "-D COHORT_LIBTORCH=<folder>, or run `make setup` and configure without naming one.")
  endif()
  # The classes of libtorch change their layout from one version to the next.
  if(COHORT_BUILT_WITH_VERSION AND NOT version VERSION_EQUAL COHORT_BUILT_WITH_VERSION)
    message(FATAL_ERROR
      "The libtorch in ${root} (${why}) is ${version}, but this Cohort was built with ${COHORT_BUILT_WITH_VERSION}.\n"
      "Name one of that version with -D COHORT_LIBTORCH=<folder>, or build Cohort again with ${version}: "
      "COHORT_LIBTORCH=${root} make install PREFIX=<folder>.")
  endif()
  set(build cpu)
  if(EXISTS "${root}/lib/libtorch_cuda.so")
    set(build "CUDA build, its CPU part is used")
    _cohort_check_cuda_build("${root}")
  endif()
  message(STATUS "libtorch ${version} (${build}) in ${root}: ${why}")

  if(NOT TARGET libtorch::torch)
    add_library(libtorch::c10 SHARED IMPORTED GLOBAL)
    set_target_properties(libtorch::c10 PROPERTIES
      IMPORTED_LOCATION "${root}/lib/libc10.so" IMPORTED_SONAME libc10.so)
    add_library(libtorch::torch SHARED IMPORTED GLOBAL)
    set_target_properties(libtorch::torch PROPERTIES
      IMPORTED_LOCATION "${root}/lib/libtorch_cpu.so" IMPORTED_SONAME libtorch_cpu.so
      INTERFACE_INCLUDE_DIRECTORIES "${root}/include;${root}/include/torch/csrc/api/include"
      INTERFACE_COMPILE_FEATURES cxx_std_20
      INTERFACE_LINK_LIBRARIES libtorch::c10)
  endif()
  _cohort_check_one_libtorch("${root}")
  get_property(is_checked_later GLOBAL PROPERTY COHORT_CHECKS_ONE_LIBTORCH)
  if(NOT is_checked_later)
    set_property(GLOBAL PROPERTY COHORT_CHECKS_ONE_LIBTORCH ON)
    cmake_language(EVAL CODE
      "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL _cohort_check_one_libtorch [[${root}]])")
  endif()
  set(COHORT_LIBTORCH_ROOT "${root}" PARENT_SCOPE)
  set(COHORT_LIBTORCH_VERSION "${version}" PARENT_SCOPE)
endfunction()

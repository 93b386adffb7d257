# The libtorch of an installation: a copy, or a link.

# cohort_install_libtorch(<root of a libtorch> <destination below the prefix> COPY|LINK)
#   COPY  the libraries that a C++ program loads, the headers, and the package config of Torch; not Python, its extension
#         modules, and libraries for tests of torch
#   LINK  a symbolic link to the root
function(cohort_install_libtorch root destination how)
  # Removes what an earlier installation left there: a copy must not be written through a link into somebody's libtorch.
  set(installed "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${destination}")
  install(CODE "file(REMOVE_RECURSE \"${installed}\")")
  if(how STREQUAL LINK)
    cmake_path(GET destination PARENT_PATH parent)
    install(CODE "
      file(MAKE_DIRECTORY \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${parent}\")
      file(CREATE_LINK \"${root}\" \"${installed}\" SYMBOLIC)")
    return()
  endif()
  _cohort_libraries_of("${root}" libraries)
  foreach(library IN LISTS libraries)
    cmake_path(GET library FILENAME name)  # programs ask for this name, which may be that of a link
    file(REAL_PATH "${library}" file)
    install(PROGRAMS "${file}" DESTINATION "${destination}/lib" RENAME "${name}")
  endforeach()
  install(DIRECTORY "${root}/include" DESTINATION "${destination}" MESSAGE_NEVER)
  install(DIRECTORY "${root}/share/cmake" DESTINATION "${destination}/share" MESSAGE_NEVER OPTIONAL)
endfunction()

# Sets `out` to the libraries of libtorch, with all libraries that they load and that do not belong to the system. Those lie in
# the folder of libtorch or, for a CUDA build, in other packages of the same Python. RUNPATH $ORIGIN of libtorch_cpu.so finds all
# of them when they lie beside it.
function(_cohort_libraries_of root out)
  set(libraries "${root}/lib/libtorch_cpu.so")
  if(EXISTS "${root}/lib/libtorch.so")  # for find_package(Torch)
    list(APPEND libraries "${root}/lib/libtorch.so")
  endif()
  execute_process(COMMAND ldd "${root}/lib/libtorch_cpu.so" OUTPUT_VARIABLE needed ERROR_QUIET)
  string(REGEX MATCHALL "=> (/[^\n]*) \\(0x" lines "${needed}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "=> (/[^\n]*) \\(0x" "\\1" library "${line}")
    if(NOT library MATCHES "^/(usr/)?lib(32|64)?/")
      list(APPEND libraries "${library}")
    endif()
  endforeach()
  set(${out} ${libraries} PARENT_SCOPE)
endfunction()

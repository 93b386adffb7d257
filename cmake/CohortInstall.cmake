# `cmake --install` installs include/cohort, libcohort, the tool, and a package config that finds libtorch again.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/cohort")
set(torch_lib "${COHORT_LIBTORCH_ROOT}/lib")

set_target_properties(cohort PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH "$ORIGIN;${torch_lib}")
set_target_properties(cohort_libtorch_probe cohort_trainer PROPERTIES INSTALL_RPATH "${torch_lib}")

install(TARGETS cohort EXPORT cohort LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS cohort_tool cohort_trainer cohort_libtorch_probe RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET cohort_bench_openmpi)
  install(TARGETS cohort_bench_openmpi RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" OPTIONAL)
endif()
foreach(shim openmpi mpich)
  if(TARGET cohort_mpi_${shim})
    install(TARGETS cohort_mpi_${shim} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" OPTIONAL)
  endif()
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/cohort" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT cohort FILE cohortTargets.cmake NAMESPACE cohort:: DESTINATION "${package_dir}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/cohortConfig.cmake.in"
  "${CMAKE_BINARY_DIR}/cohortConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/cohortConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_BINARY_DIR}/cohortConfig.cmake"
  "${CMAKE_BINARY_DIR}/cohortConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/CohortLibtorch.cmake"
  DESTINATION "${package_dir}")

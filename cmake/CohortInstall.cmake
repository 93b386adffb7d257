# `cmake --install` installs include/cohort, libcohort, the tool, examples, docs, and a package config. Nothing in the
# installation refers to the checkout, and the whole folder may be moved: docs/decisions/0036-an-installation-has-its-libtorch.md.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/cohort")
# The libtorch of the installation: a folder, or a link to one. Programs, libcohort and the package config all look here.
set(COHORT_INSTALLED_LIBTORCH "${CMAKE_INSTALL_LIBDIR}/cohort/libtorch")

# A libtorch of the checkout is copied, because it would be gone with the checkout. Another one is linked.
set(COHORT_BUNDLE_LIBTORCH AUTO CACHE STRING
  "Installing copies libtorch (ON) or makes a link to it (OFF); AUTO copies the one in the project's .venv")
set(is_copied "${COHORT_BUNDLE_LIBTORCH}")
if(is_copied STREQUAL AUTO)
  file(REAL_PATH "${COHORT_PROJECT_VENV}" venv)
  cmake_path(IS_PREFIX venv "${COHORT_LIBTORCH_ROOT}" NORMALIZE is_copied)
endif()
include(CohortInstallLibtorch)
if(is_copied)
  cohort_install_libtorch("${COHORT_LIBTORCH_ROOT}" "${COHORT_INSTALLED_LIBTORCH}" COPY)
else()
  cohort_install_libtorch("${COHORT_LIBTORCH_ROOT}" "${COHORT_INSTALLED_LIBTORCH}" LINK)
endif()

file(RELATIVE_PATH libtorch_beside_lib "/${CMAKE_INSTALL_LIBDIR}" "/${COHORT_INSTALLED_LIBTORCH}/lib")
file(RELATIVE_PATH libtorch_beside_bin "/${CMAKE_INSTALL_BINDIR}" "/${COHORT_INSTALLED_LIBTORCH}/lib")
set_target_properties(cohort PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH "$ORIGIN;$ORIGIN/${libtorch_beside_lib}")
set_target_properties(cohort_libtorch_probe cohort_trainer PROPERTIES INSTALL_RPATH "$ORIGIN/${libtorch_beside_bin}")

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
  "${CMAKE_BINARY_DIR}/cohortConfig.cmake" INSTALL_DESTINATION "${package_dir}" PATH_VARS COHORT_INSTALLED_LIBTORCH)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/cohortConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_BINARY_DIR}/cohortConfig.cmake"
  "${CMAKE_BINARY_DIR}/cohortConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/CohortLibtorch.cmake"
  DESTINATION "${package_dir}")

# Links of the README lead to docs/ and examples/ beside it.
set(doc_dir "${CMAKE_INSTALL_DATADIR}/doc/cohort")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DATADIR}/cohort")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${doc_dir}")
install(FILES README.md CHANGELOG.md CONTRIBUTING.md LICENSE DESTINATION "${doc_dir}")
file(RELATIVE_PATH examples_beside_docs "/${doc_dir}" "/${CMAKE_INSTALL_DATADIR}/cohort/examples")
install(CODE "file(CREATE_LINK \"${examples_beside_docs}\" \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${doc_dir}/examples\" SYMBOLIC)")

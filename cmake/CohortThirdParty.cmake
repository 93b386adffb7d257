# Every third-party library of the build, all from the distribution's packages (dev/packages.txt says why each).
# Header-only on purpose: who links libcohort inherits libtorch and nothing else.

find_package(CLI11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(tomlplusplus 3.3 REQUIRED)
find_package(Threads REQUIRED)
find_path(COHORT_XXHASH_INCLUDE xxhash.h REQUIRED)

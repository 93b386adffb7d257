# Every third-party library of the build, all from packages of the distribution (dev/packages.txt has the reasons).
# They are header-only or static archives, so that a program that links libcohort needs libtorch and nothing else.

find_package(CLI11 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(Threads REQUIRED)
find_path(COHORT_FMT_INCLUDE fmt/format-inl.h REQUIRED)
find_path(COHORT_TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
find_path(COHORT_XXHASH_INCLUDE xxhash.h REQUIRED)
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(OpenSSL 3.0 REQUIRED)
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
find_path(COHORT_ZSTD_INCLUDE zstd.h REQUIRED)
find_library(COHORT_ZSTD_LIBRARY libzstd.a REQUIRED)
add_library(cohort_zstd STATIC IMPORTED)
set_target_properties(cohort_zstd PROPERTIES IMPORTED_LOCATION "${COHORT_ZSTD_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${COHORT_ZSTD_INCLUDE}")

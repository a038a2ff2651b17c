# System packages that the modules depend on. scripts/packages.txt lists their Debian names.
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(cxxopts REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

if(ODB_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
if(ODB_WITH_LIBTORCH)
  find_package(LibTorch REQUIRED)
endif()

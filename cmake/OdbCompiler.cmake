# Compiler settings shared by every target, carried by the interface target odb_compiler: C++20, warnings, sanitizers.
# ccache is used when it is installed, set up so that it also hits in a fresh clone in another folder.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1")

find_program(ODB_CCACHE ccache)
if(ODB_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header is only cached when its time stamps are ignored; the base folder makes paths relative.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${ODB_CCACHE})
  set(CMAKE_PCH_INSTANTIATE_TEMPLATES OFF)
endif()

find_package(Threads REQUIRED)
add_library(odb_compiler INTERFACE)
target_compile_features(odb_compiler INTERFACE cxx_std_20)
target_link_libraries(odb_compiler INTERFACE Threads::Threads)
target_include_directories(odb_compiler INTERFACE ${CMAKE_SOURCE_DIR}/lib)
# __FILE__ is the path inside the checkout, whether the compiler was given an absolute path or (by ccache) a relative one.
file(RELATIVE_PATH odb_source_from_build ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
target_compile_options(odb_compiler INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  -Wno-missing-field-initializers # designated initializers leave defaults out on purpose
  -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/= -fmacro-prefix-map=${odb_source_from_build}= $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
if(ODB_WARNINGS_AS_ERRORS)
  target_compile_options(odb_compiler INTERFACE -Werror)
endif()
if(ODB_SANITIZE)
  add_compile_options(-fsanitize=${ODB_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ODB_SANITIZE})
endif()
if(ODB_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# One function per kind of target, so that a module's CMakeLists.txt is a list of its files and nothing else.

# odb_add_module(NAME SOURCES file... [USES module...] [LINK target...])
# A static library odb_NAME of lib/NAME. USES names other modules; LINK names outside libraries.
function(odb_add_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES;LINK" ${ARGN})
  add_library(odb_${name} STATIC ${arg_SOURCES})
  list(TRANSFORM arg_USES PREPEND odb_ OUTPUT_VARIABLE modules)
  target_link_libraries(odb_${name} PUBLIC odb_compiler ${modules} ${arg_LINK})
endfunction()

# odb_add_test(NAME SOURCES file... USES module... [LINK target...] [LABELS label...])
# A Catch2 program odb_NAME_test; every test case becomes one ctest test. LABELS: unit (default), processes, golden, slow.
function(odb_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES;LINK;LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  add_executable(odb_${name}_test ${arg_SOURCES})
  list(TRANSFORM arg_USES PREPEND odb_ OUTPUT_VARIABLE modules)
  target_link_libraries(odb_${name}_test PRIVATE odb_test_main ${modules} ${arg_LINK})
  catch_discover_tests(odb_${name}_test TEST_PREFIX "${name}: " PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300)
endfunction()

# odb_add_benchmark(NAME SOURCES file... USES module...): a Google Benchmark program NAME_bench in build/PRESET/bench.
function(odb_add_benchmark name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES;LINK" ${ARGN})
  add_executable(${name}_bench ${arg_SOURCES})
  list(TRANSFORM arg_USES PREPEND odb_ OUTPUT_VARIABLE modules)
  target_link_libraries(${name}_bench PRIVATE ${modules} ${arg_LINK} benchmark::benchmark_main)
endfunction()

# One function per kind of target, so that a module's CMakeLists.txt is a list of its files and nothing else.

# odb_add_torch_header(): compiles the headers that LibTorch modules share once for all of them. Not all of <torch/torch.h>:
# each source instantiates the header's templates again (8 seconds for an empty source, 5 with this list). It is
# built with base's definitions, because a source can use a precompiled header only if both agree on every macro that the
# header reads (fmt's, spdlog's).
function(odb_add_torch_header)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/torch_header.cc CONTENT "")
  add_library(odb_torch_header OBJECT ${CMAKE_BINARY_DIR}/generated/torch_header.cc)
  target_link_libraries(odb_torch_header PRIVATE odb_base LibTorch::LibTorch)
  target_precompile_headers(odb_torch_header PRIVATE
    <torch/types.h> <torch/autograd.h> <torch/cuda.h> <torch/utils.h> <torch/version.h>
    <torch/nn/module.h> <torch/nn/functional.h> <torch/optim.h> <torch/serialize.h>)
endfunction()

# odb_use_torch(TARGET): links LibTorch and uses its one precompiled header.
# A precompiled header requires equal code generation flags, so programs are compiled with -fPIC like the libraries.
function(odb_use_torch target)
  target_link_libraries(${target} PUBLIC LibTorch::LibTorch)
  target_precompile_headers(${target} REUSE_FROM odb_torch_header)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
endfunction()

# odb_add_module(NAME [TORCH] SOURCES file... [USES module...] [LINK target...])
# A static library odb_NAME of lib/NAME. USES names other modules; LINK names outside libraries; TORCH: uses LibTorch.
function(odb_add_module name)
  cmake_parse_arguments(arg "TORCH" "" "SOURCES;USES;LINK" ${ARGN})
  add_library(odb_${name} STATIC ${arg_SOURCES})
  list(TRANSFORM arg_USES PREPEND odb_ OUTPUT_VARIABLE modules)
  target_link_libraries(odb_${name} PUBLIC odb_compiler ${modules} ${arg_LINK})
  if(arg_TORCH)
    odb_use_torch(odb_${name})
  endif()
endfunction()

# odb_add_test(NAME [TORCH] [THREADS] SOURCES file... USES module... [LINK target...] [LABELS label...])
# A Catch2 program odb_NAME_test; every test case becomes one ctest test. LABELS: unit (default), processes, golden, slow.
# THREADS: it or the programs that it starts have threads. The thread sanitizer finds nothing in other programs, so
# its build leaves them out.
function(odb_add_test name)
  cmake_parse_arguments(arg "TORCH;THREADS" "" "SOURCES;USES;LINK;LABELS" ${ARGN})
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  add_executable(odb_${name}_test ${arg_SOURCES})
  list(TRANSFORM arg_USES PREPEND odb_ OUTPUT_VARIABLE modules)
  target_link_libraries(odb_${name}_test PRIVATE odb_test_main ${modules} ${arg_LINK})
  if(arg_TORCH)
    odb_use_torch(odb_${name}_test)
  endif()
  if(ODB_SANITIZE STREQUAL "thread" AND NOT arg_THREADS)
    set_target_properties(odb_${name}_test PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  catch_discover_tests(odb_${name}_test TEST_PREFIX "${name}: " EXTRA_ARGS ${ODB_CATCH_ARGUMENTS}
                       PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 1200)
endfunction()

# odb_add_benchmark(NAME [TORCH] SOURCES file... USES module... [LINK target...])
# A Google Benchmark program NAME_bench in build/PRESET/bench.
function(odb_add_benchmark name)
  cmake_parse_arguments(arg "TORCH" "" "SOURCES;USES;LINK" ${ARGN})
  add_executable(${name}_bench ${arg_SOURCES})
  list(TRANSFORM arg_USES PREPEND odb_ OUTPUT_VARIABLE modules)
  target_link_libraries(${name}_bench PRIVATE ${modules} ${arg_LINK} benchmark::benchmark_main)
  if(arg_TORCH)
    odb_use_torch(${name}_bench)
  endif()
endfunction()

# Finds LibTorch without running python and without LibTorch's own CMake files, which need a whole CUDA toolkit.
#
# Where it looks: LIBTORCH (-DLIBTORCH=... or the environment variable; kept in the cache), which may be an unpacked
# libtorch zip, the torch folder of a python package, a site-packages folder or a virtual environment; if that is not
# set, the checkout's .venv, which scripts/build.sh makes.
#
# Gives the target LibTorch::LibTorch and the variables LibTorch_VERSION, LibTorch_ROOT_DIR, LibTorch_CUDA, LibTorch_NCCL
# and LibTorch_CUPTI (each of these three a version, or "no"). ODB_REQUIRE_CUDA=ON refuses a CPU build.
# No ABI define is set: since version 2.7 every Linux build of LibTorch uses the C++11 ABI, as compilers do by default.
option(ODB_REQUIRE_CUDA "Refuse a LibTorch without CUDA" OFF)
set(LIBTORCH "" CACHE PATH "LibTorch: unpacked zip, torch package folder, site-packages folder or virtual environment")

set(odb_libtorch_how "Run scripts/build.sh, which installs it into .venv, or point LIBTORCH (-DLIBTORCH=DIR or the \
environment variable) at an unpacked libtorch zip, a torch package folder, a site-packages folder or a virtual \
environment. -DODB_WITH_LIBTORCH=OFF builds only the modules that do without.")

# The value of the first `#define NAME value` of `file`, quotes taken off; empty when there is none.
function(odb_read_definition file name out_variable)
  set(value "")
  if(EXISTS "${file}")
    file(READ "${file}" text)
    # The value may stand on the next line, after a backslash.
    if("${text}" MATCHES "#define[ \t]+${name}[ \t\\\n]+\"?([0-9][^\" \t\n]*)")
      set(value "${CMAKE_MATCH_1}")
    endif()
  endif()
  set(${out_variable} "${value}" PARENT_SCOPE)
endfunction()

# The torch folder (with include/ and lib/) that `place` holds in one of the known ways; empty when there is none.
function(odb_libtorch_root place out_variable)
  file(GLOB packages "${place}/lib/python3*/site-packages/torch")
  set(${out_variable} "" PARENT_SCOPE)
  foreach(folder IN ITEMS "${place}" "${place}/torch" "${place}/libtorch" LISTS packages)
    if(EXISTS "${folder}/include/torch/csrc/api/include/torch/torch.h" AND EXISTS "${folder}/lib/libtorch_cpu.so")
      get_filename_component(folder "${folder}" REALPATH)
      set(${out_variable} "${folder}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

if(NOT LIBTORCH AND NOT "$ENV{LIBTORCH}" STREQUAL "")
  set(LIBTORCH "$ENV{LIBTORCH}" CACHE PATH "" FORCE)
endif()
if(LIBTORCH)
  get_filename_component(odb_libtorch_place "${LIBTORCH}" ABSOLUTE BASE_DIR "${CMAKE_SOURCE_DIR}")
else()
  set(odb_libtorch_place "${CMAKE_SOURCE_DIR}/.venv")
endif()
odb_libtorch_root("${odb_libtorch_place}" LibTorch_ROOT_DIR)
if(NOT LibTorch_ROOT_DIR)
  message(FATAL_ERROR "LibTorch: found no include/torch/csrc/api/include/torch/torch.h with lib/libtorch_cpu.so in "
                      "${odb_libtorch_place}. ${odb_libtorch_how}")
endif()

odb_read_definition("${LibTorch_ROOT_DIR}/include/torch/headeronly/version.h" TORCH_VERSION LibTorch_VERSION)
if(NOT LibTorch_VERSION OR LibTorch_VERSION VERSION_LESS 2.13)
  message(FATAL_ERROR "LibTorch: ${LibTorch_ROOT_DIR} is version '${LibTorch_VERSION}' (empty: before 2.9); "
                      "expected 2.13 or 2.14. ${odb_libtorch_how}")
elseif(LibTorch_VERSION VERSION_GREATER_EQUAL 2.15)
  message(WARNING "LibTorch: ${LibTorch_ROOT_DIR} is version ${LibTorch_VERSION}; odb-trainer is built and tested "
                  "with 2.13 and 2.14. If it does not compile, take one of these.")
endif()

set(odb_libtorch_includes "${LibTorch_ROOT_DIR}/include" "${LibTorch_ROOT_DIR}/include/torch/csrc/api/include"
                          "${LibTorch_ROOT_DIR}/include/kineto")
set(odb_libtorch_lib "${LibTorch_ROOT_DIR}/lib")
set(odb_libtorch_libraries torch torch_cpu c10)
list(TRANSFORM odb_libtorch_libraries REPLACE "(.+)" "${odb_libtorch_lib}/lib\\1.so")
set(odb_libtorch_run_paths "${odb_libtorch_lib}")
# What LibTorch itself was compiled with; its distributed headers are empty without these.
set(odb_libtorch_definitions USE_DISTRIBUTED USE_C10D_GLOO USE_KINETO)

set(LibTorch_CUDA "no")
set(LibTorch_NCCL "no")
set(LibTorch_CUPTI "no")
if(EXISTS "${odb_libtorch_lib}/libtorch_cuda.so")
  include(LibTorchCuda)
elseif(ODB_REQUIRE_CUDA)
  message(FATAL_ERROR "LibTorch: ${LibTorch_ROOT_DIR} is a CPU build (no lib/libtorch_cuda.so), and ODB_REQUIRE_CUDA is "
                      "ON. Point LIBTORCH at a CUDA build, or configure with -DODB_REQUIRE_CUDA=OFF.")
endif()

# As -idirafter: the wheel contains an fmt newer than the system's, which spdlog must not see.
list(TRANSFORM odb_libtorch_includes REPLACE "(.+)" "SHELL:-idirafter \"\\1\"" OUTPUT_VARIABLE odb_libtorch_options)
list(TRANSFORM odb_libtorch_run_paths PREPEND "-Wl,-rpath," OUTPUT_VARIABLE odb_libtorch_link_options)
add_library(LibTorch::LibTorch INTERFACE IMPORTED GLOBAL)
set_target_properties(LibTorch::LibTorch PROPERTIES
  INTERFACE_COMPILE_OPTIONS "${odb_libtorch_options}"
  INTERFACE_COMPILE_DEFINITIONS "${odb_libtorch_definitions}"
  INTERFACE_LINK_LIBRARIES "${odb_libtorch_libraries}"
  INTERFACE_LINK_OPTIONS "${odb_libtorch_link_options}")

message(STATUS "LibTorch ${LibTorch_VERSION} in ${LibTorch_ROOT_DIR}: "
               "CUDA ${LibTorch_CUDA}, NCCL ${LibTorch_NCCL}, CUPTI ${LibTorch_CUPTI}")

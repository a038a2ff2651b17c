# The CUDA half of FindLibTorch: CUDA's headers and runtime, NCCL and CUPTI, from the nvidia packages beside a torch
# package, from an unpacked libtorch zip, or from a toolkit's folder. Only the headers of a toolkit are needed.
# Adds to the odb_libtorch_* lists and sets LibTorch_CUDA, LibTorch_NCCL and LibTorch_CUPTI. Sources see ODB_WITH_CUDA.

# A package's version.py says `cuda: Optional[str] = '13.0'`; a zip's build-version says 2.13.0+cu130.
if(EXISTS "${LibTorch_ROOT_DIR}/version.py")
  file(STRINGS "${LibTorch_ROOT_DIR}/version.py" odb_cuda_line REGEX "^cuda[: ]")
  string(REGEX MATCH "[0-9]+\\.[0-9]+" LibTorch_CUDA "${odb_cuda_line}")
elseif(EXISTS "${LibTorch_ROOT_DIR}/build-version")
  file(READ "${LibTorch_ROOT_DIR}/build-version" odb_cuda_line)
  string(REGEX REPLACE ".*\\+cu([0-9]+)([0-9]).*" "\\1.\\2" LibTorch_CUDA "${odb_cuda_line}")
endif()
if(NOT LibTorch_CUDA MATCHES "^([0-9]+)\\.[0-9]+$")
  message(FATAL_ERROR "LibTorch: ${odb_libtorch_lib} holds libtorch_cuda.so, but neither version.py nor build-version "
                      "in ${LibTorch_ROOT_DIR} states its CUDA version (found '${LibTorch_CUDA}'). Unpack it again.")
endif()
set(odb_cuda_major "${CMAKE_MATCH_1}")

get_filename_component(odb_nvidia "${LibTorch_ROOT_DIR}/../nvidia" ABSOLUTE)
set(odb_nvidia_cuda "${odb_nvidia}/cu${odb_cuda_major}")
file(GLOB odb_toolkits "/usr/local/cuda-${LibTorch_CUDA}" "/usr/local/cuda-${odb_cuda_major}.*")
set(odb_cuda_packages "nvidia-cuda-runtime==${LibTorch_CUDA}.* nvidia-cuda-crt==${LibTorch_CUDA}.* \
nvidia-cuda-cccl==${LibTorch_CUDA}.*")
set(odb_cuda_folders "${odb_nvidia_cuda}" "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" ${odb_toolkits} /usr/local/cuda /usr)

# The first folder of those in ARGN that holds `file`; empty when none does.
function(odb_first_folder_with file out_variable)
  set(${out_variable} "" PARENT_SCOPE)
  foreach(folder IN LISTS ARGN)
    file(GLOB found "${folder}/${file}")
    if(folder AND found)
      set(${out_variable} "${folder}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# Headers. Those of the runtime's package include two from other packages.
foreach(header IN ITEMS cuda_runtime_api.h crt/host_defines.h cccl/nv/target)
  odb_first_folder_with(include/${header} folder ${odb_cuda_folders})
  if(NOT folder)
    message(FATAL_ERROR "LibTorch: ${LibTorch_ROOT_DIR} is built with CUDA ${LibTorch_CUDA}, whose header ${header} is in "
                        "none of: ${odb_cuda_folders}. Install it beside torch (pip install ${odb_cuda_packages}), or "
                        "set CUDA_HOME to a toolkit of that version; a CPU build of LibTorch does without.")
  endif()
  list(APPEND odb_libtorch_includes "${folder}/include")
endforeach()
list(APPEND odb_libtorch_includes "${folder}/include/cccl")
list(REMOVE_DUPLICATES odb_libtorch_includes)
list(REMOVE_ITEM odb_libtorch_includes /usr/include)

# Libraries. --no-as-needed: nothing refers to libtorch_cuda by name, it registers itself when it is loaded.
file(GLOB odb_cudart "${odb_nvidia_cuda}/lib/libcudart.so.${odb_cuda_major}" "${odb_libtorch_lib}/libcudart*.so*")
if(NOT odb_cudart)
  odb_first_folder_with("lib*/libcudart.so.${odb_cuda_major}" folder ${odb_cuda_folders})
  file(GLOB odb_cudart "${folder}/lib*/libcudart.so.${odb_cuda_major}")
endif()
if(NOT odb_cudart)
  message(FATAL_ERROR "LibTorch: found no libcudart.so.${odb_cuda_major} in ${odb_libtorch_lib} or: ${odb_cuda_folders}. "
                      "Install it beside torch: pip install ${odb_cuda_packages}.")
endif()
list(GET odb_cudart 0 odb_cudart)
get_filename_component(odb_cudart_folder "${odb_cudart}" DIRECTORY)
list(APPEND odb_libtorch_libraries
  "-Wl,--push-state,--no-as-needed,${odb_libtorch_lib}/libtorch_cuda.so,--pop-state"
  "${odb_libtorch_lib}/libc10_cuda.so" "${odb_cudart}")
list(APPEND odb_libtorch_run_paths "${odb_cudart_folder}")
list(APPEND odb_libtorch_definitions ODB_WITH_CUDA)

# NCCL: the torch package brings it as a package of its own; a zip has it inside libtorch_cuda, its header is the system's.
odb_first_folder_with(include/nccl.h odb_nccl "${odb_nvidia}/nccl" "$ENV{NCCL_HOME}" /usr)
if(odb_nccl)
  foreach(part IN ITEMS MAJOR MINOR PATCH)
    odb_read_definition("${odb_nccl}/include/nccl.h" NCCL_${part} odb_nccl_${part})
  endforeach()
  set(LibTorch_NCCL "${odb_nccl_MAJOR}.${odb_nccl_MINOR}.${odb_nccl_PATCH}")
  list(APPEND odb_libtorch_definitions USE_C10D_NCCL)
  if(NOT odb_nccl STREQUAL "/usr")
    list(APPEND odb_libtorch_includes "${odb_nccl}/include")
  endif()
  file(GLOB odb_nccl_library "${odb_nccl}/lib*/libnccl.so.2" "${odb_nccl}/lib/*/libnccl.so.2")
  if(odb_nccl_library)
    list(GET odb_nccl_library 0 odb_nccl_library)
    get_filename_component(odb_nccl_folder "${odb_nccl_library}" DIRECTORY)
    list(APPEND odb_libtorch_libraries "${odb_nccl_library}")
    list(APPEND odb_libtorch_run_paths "${odb_nccl_folder}")
  endif()
else()
  message(WARNING "LibTorch: found no nccl.h in ${odb_nvidia}/nccl, NCCL_HOME or /usr: ranks on GPUs will communicate over "
                  "Gloo, which is slow. Install nvidia-nccl-cu${odb_cuda_major} beside torch, or libnccl-dev.")
endif()

# CUPTI comes with libtorch_cpu, which Kineto is part of; only its version is of interest.
odb_first_folder_with(include/cupti_version.h odb_cupti ${odb_cuda_folders})
if(odb_cupti)
  odb_read_definition("${odb_cupti}/include/cupti_version.h" CUPTI_API_VERSION LibTorch_CUPTI)
endif()
if(NOT LibTorch_CUPTI)
  set(LibTorch_CUPTI "no")
endif()

# The rivals of the benchmarks of conjugate gradients and of communication: built where cuSPARSE, NCCL and NVSHMEM are
# found, in the CUDA toolkit or in the packages of the Python in use (nvidia-cusparse, nvidia-nccl-cu13,
# nvidia-nvjitlink, nvidia-nvshmem-cu13). Of the benchmark of tasks: CUB, which is beside headers that Starling needs
# anyway.

set(STARLING_RIVALS auto CACHE STRING "Build the programs that measure other libraries: auto (if they are found), on, off")
set_property(CACHE STARLING_RIVALS PROPERTY STRINGS auto on off)

# starling_find_rival(<NAME> <header> <library file>...): sets <NAME>_INCLUDE and <NAME>_LIBRARY, both from one place.
function(starling_find_rival name header)
  foreach(root IN LISTS starling_rival_roots)
    find_path(found_include ${header} PATHS ${root} PATH_SUFFIXES include NO_DEFAULT_PATH NO_CACHE)
    find_library(found_library NAMES ${ARGN} PATHS ${root} PATH_SUFFIXES lib lib64 lib/x86_64-linux-gnu NO_DEFAULT_PATH
      NO_CACHE)
    if(found_include AND found_library)
      set(${name}_INCLUDE ${found_include} PARENT_SCOPE)
      set(${name}_LIBRARY ${found_library} PARENT_SCOPE)
      return()
    endif()
    unset(found_include)
    unset(found_library)
  endforeach()
endfunction()

# Links a program with rivals: starling_link_rivals(<program> <NAME>...). The libraries' own needs lie beside them, or in
# another package.
function(starling_link_rivals program)
  set(folders ${starling_rival_wheels})
  list(TRANSFORM folders APPEND /lib)
  foreach(name IN LISTS ARGN)
    target_link_libraries(${program} PRIVATE ${${name}_LIBRARY})
    target_include_directories(${program} SYSTEM PRIVATE ${${name}_INCLUDE})
    get_filename_component(folder ${${name}_LIBRARY} DIRECTORY)
    list(PREPEND folders ${folder})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  list(TRANSFORM folders PREPEND "LINKER:-rpath-link," OUTPUT_VARIABLE link_folders)
  target_link_options(${program} PRIVATE ${link_folders})
  set_target_properties(${program} PROPERTIES BUILD_RPATH "${folders}")
  target_include_directories(${program} PRIVATE bench)
  starling_build_flags(${program})
  starling_kernels(${program})
endfunction()

function(starling_rivals)
  set(starling_rival_wheels)
  set(starling_rival_roots ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_ROOT} ${CUDAToolkit_LIBRARY_DIR}/.. /usr)
  if(Python_EXECUTABLE)
    execute_process(COMMAND ${Python_EXECUTABLE} -c "import glob, sys; print(';'.join(sorted(
      folder for place in sys.path for folder in glob.glob(place + '/nvidia/*') if place)), end='')"
      OUTPUT_VARIABLE starling_rival_wheels ERROR_QUIET)
    list(APPEND starling_rival_roots ${starling_rival_wheels})
  endif()
  starling_find_rival(CUSPARSE cusparse.h cusparse libcusparse.so.12)
  starling_find_rival(NCCL nccl.h nccl libnccl.so.2)
  starling_find_rival(NVSHMEM nvshmem.h nvshmem_host libnvshmem_host.so.3)
  starling_find_rival(NVSHMEM_DEVICE nvshmem.h libnvshmem_device.a)
  if(STARLING_RIVALS STREQUAL "on" AND NOT (CUSPARSE_LIBRARY AND NCCL_LIBRARY))
    message(FATAL_ERROR "STARLING_RIVALS=on, but cuSPARSE or NCCL was not found. Install them with the CUDA toolkit or "
      "with pip (nvidia-cusparse, nvidia-nccl-cu13), or configure with -DSTARLING_RIVALS=off")
  endif()
  message(STATUS "Starling: rivals: cuSPARSE ${CUSPARSE_LIBRARY}, NCCL ${NCCL_LIBRARY}, NVSHMEM ${NVSHMEM_LIBRARY}")

  add_executable(bench_stf_rivals_reduction bench/stf/rivals_reduction.cpp)
  target_link_libraries(bench_stf_rivals_reduction PRIVATE starling)
  starling_link_rivals(bench_stf_rivals_reduction)
  if(CUSPARSE_LIBRARY AND NCCL_LIBRARY)
    file(GLOB sources CONFIGURE_DEPENDS bench/cpu_free_cg/rivals*.cpp)
    add_executable(bench_cpu_free_cg_rivals ${sources})
    target_link_libraries(bench_cpu_free_cg_rivals PRIVATE starling starling_cg)
    starling_link_rivals(bench_cpu_free_cg_rivals CUSPARSE NCCL)
  endif()
  if(NCCL_LIBRARY)
    add_executable(bench_communication_rivals_nccl bench/communication/rivals_nccl.cpp)
    target_include_directories(bench_communication_rivals_nccl PRIVATE include)
    target_compile_features(bench_communication_rivals_nccl PRIVATE cxx_std_20)
    starling_link_rivals(bench_communication_rivals_nccl NCCL)
  endif()
  if(NVSHMEM_LIBRARY AND NVSHMEM_DEVICE_LIBRARY)
    add_executable(bench_communication_rivals_nvshmem bench/communication/rivals_nvshmem.cpp)
    target_include_directories(bench_communication_rivals_nvshmem PRIVATE include)
    target_compile_features(bench_communication_rivals_nvshmem PRIVATE cxx_std_20)
    starling_link_rivals(bench_communication_rivals_nvshmem NVSHMEM NVSHMEM_DEVICE)
    # Its device part is a library of its own, so device code is linked too.
    set_target_properties(bench_communication_rivals_nvshmem PROPERTIES CUDA_SEPARABLE_COMPILATION ON
      CUDA_RESOLVE_DEVICE_SYMBOLS ON)
  endif()
endfunction()

string(TOLOWER "${STARLING_RIVALS}" STARLING_RIVALS)
if(NOT STARLING_RIVALS MATCHES "^(auto|on|off)$")
  message(FATAL_ERROR "STARLING_RIVALS is '${STARLING_RIVALS}'; it must be auto, on or off")
endif()
if(STARLING_WITH_CUDA AND NOT STARLING_RIVALS STREQUAL "off")
  starling_rivals()
elseif(STARLING_RIVALS STREQUAL "on")
  message(FATAL_ERROR "STARLING_RIVALS=on needs CUDA; configure with -DSTARLING_CUDA=on")
endif()

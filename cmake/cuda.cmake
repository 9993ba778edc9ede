# Decides STARLING_WITH_CUDA from STARLING_CUDA and, if so, switches the CUDA language on.

string(TOLOWER "${STARLING_CUDA}" starling_cuda_wish)
if(NOT starling_cuda_wish MATCHES "^(auto|on|off)$")
  message(FATAL_ERROR "STARLING_CUDA is '${STARLING_CUDA}'; it must be auto, on or off")
endif()

set(STARLING_WITH_CUDA OFF)
if(NOT starling_cuda_wish STREQUAL "off")
  find_program(STARLING_NVCC nvcc HINTS ${CMAKE_CUDA_COMPILER} $ENV{CUDACXX} PATHS $ENV{CUDA_HOME} $ENV{CUDA_PATH}
    /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(STARLING_NVCC)
  if(STARLING_NVCC)
    set(STARLING_WITH_CUDA ON)
  elseif(starling_cuda_wish STREQUAL "on")
    message(FATAL_ERROR "STARLING_CUDA=on, but nvcc was not found. Put the CUDA toolkit's bin folder on PATH, set "
      "CUDA_HOME, or configure with -DSTARLING_CUDA=off")
  endif()
endif()

if(STARLING_WITH_CUDA)
  if(NOT DEFINED CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${STARLING_NVCC})
  endif()
  if(NOT DEFINED CMAKE_CUDA_HOST_COMPILER AND NOT DEFINED ENV{CUDAHOSTCXX})
    # One C++ compiler on both sides, so that host code behaves the same in every source.
    set(CMAKE_CUDA_HOST_COMPILER ${CMAKE_CXX_COMPILER})
  endif()
  set(CMAKE_CUDA_ARCHITECTURES ${STARLING_CUDA_ARCH})
  enable_language(CUDA)
  # The toolkit next to this nvcc, not another one that happens to be installed.
  get_filename_component(starling_nvcc_folder ${CMAKE_CUDA_COMPILER} REALPATH)
  get_filename_component(starling_nvcc_folder ${starling_nvcc_folder} DIRECTORY)
  get_filename_component(starling_cuda_root ${starling_nvcc_folder} DIRECTORY)
  if(NOT DEFINED CUDAToolkit_ROOT)
    set(CUDAToolkit_ROOT ${starling_cuda_root})
  endif()
  find_package(CUDAToolkit REQUIRED)
  message(STATUS "Starling: virtual devices and GPUs (CUDA ${CUDAToolkit_VERSION}, architectures ${STARLING_CUDA_ARCH})")
else()
  message(STATUS "Starling: virtual devices only")
endif()

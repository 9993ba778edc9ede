# Where <cuda/std/mdspan>, <cuda/atomic> and friends come from: the CUDA toolkit in builds with CUDA; otherwise the
# package nvidia-cuda-cccl, or any toolkit that is installed. Sets STARLING_LIBCUDACXX_DIR.

set(starling_cuda_include_dirs)
if(STARLING_WITH_CUDA)
  set(starling_cuda_include_dirs ${CUDAToolkit_INCLUDE_DIRS})
  list(TRANSFORM starling_cuda_include_dirs APPEND /cccl OUTPUT_VARIABLE starling_cccl_hints)
elseif(Python_EXECUTABLE)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c "
from importlib.metadata import files
for file in files('nvidia-cuda-cccl') or []:
    if file.as_posix().endswith('/cuda/std/mdspan'):
        print(file.locate().parent.parent.parent.resolve())
        break"
    OUTPUT_VARIABLE starling_cccl_hints OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

# Not searched again while the folder is there, but again when, say, a virtual environment has gone.
if(STARLING_LIBCUDACXX_DIR AND NOT EXISTS ${STARLING_LIBCUDACXX_DIR}/cuda/std/mdspan)
  unset(STARLING_LIBCUDACXX_DIR CACHE)
endif()
find_path(STARLING_LIBCUDACXX_DIR cuda/std/mdspan
  HINTS ${starling_cccl_hints} ${starling_cuda_include_dirs}
  PATHS $ENV{CUDA_HOME}/include/cccl /usr/local/cuda/include/cccl
  NO_CMAKE_SYSTEM_PATH)
if(NOT STARLING_LIBCUDACXX_DIR)
  message(FATAL_ERROR "The libcudacxx headers (<cuda/std/mdspan>) were not found. Run tools/setup, or "
    "'pip install nvidia-cuda-cccl', or give their folder with -DSTARLING_LIBCUDACXX_DIR=...")
endif()
message(STATUS "Starling: libcudacxx from ${STARLING_LIBCUDACXX_DIR}")

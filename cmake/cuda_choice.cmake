# What STARLING_CUDA=auto means, the same for every build: GPU code where nvcc and a GPU are, since compiling it takes
# hours and only a GPU runs it. Sets STARLING_NVCC (its path, or false), STARLING_GPU_SEEN and STARLING_CUDA_AUTO.
# As a script (cmake -P) it prints `on` or `off`.

find_program(STARLING_NVCC nvcc HINTS ${CMAKE_CUDA_COMPILER} $ENV{CUDACXX} PATHS $ENV{CUDA_HOME} $ENV{CUDA_PATH}
  /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(STARLING_NVCC)

set(STARLING_GPU_SEEN OFF)
file(GLOB starling_gpu_nodes /dev/nvidia[0-9]*)
if(starling_gpu_nodes)
  set(STARLING_GPU_SEEN ON)
else()
  # Under WSL GPUs have no node of their own.
  execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE starling_gpu_list RESULT_VARIABLE starling_gpu_status ERROR_QUIET)
  if(starling_gpu_status EQUAL 0 AND starling_gpu_list MATCHES "GPU [0-9]")
    set(STARLING_GPU_SEEN ON)
  endif()
endif()

set(STARLING_CUDA_AUTO off)
if(STARLING_NVCC AND STARLING_GPU_SEEN)
  set(STARLING_CUDA_AUTO on)
endif()
if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${STARLING_CUDA_AUTO})
endif()

# The Python that builds use: the one given, else the environment that tools/setup makes, else the one on PATH.

if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()

if(STARLING_PYTHON)
  set(starling_python_parts Interpreter Development.Module)
  if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.26)
    # What a module for the stable ABI needs; absent before Python 3.12's time, hence optional.
    find_package(Python 3.10 REQUIRED COMPONENTS ${starling_python_parts} OPTIONAL_COMPONENTS Development.SABIModule)
  else()
    find_package(Python 3.10 REQUIRED COMPONENTS ${starling_python_parts})
  endif()
else()
  find_package(Python 3.10 QUIET COMPONENTS Interpreter)
endif()

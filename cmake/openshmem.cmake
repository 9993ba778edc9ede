# OpenSHMEM in C: starling::openshmem. Its typed functions and its header are made from src/openshmem/functions.json.

# Processes share virtual devices alone.
if(STARLING_WITH_CUDA OR NOT Python_Interpreter_FOUND)
  return()
endif()

set(starling_openshmem_made ${PROJECT_BINARY_DIR}/openshmem)
set(starling_openshmem_include ${starling_openshmem_made}/include)
set(starling_openshmem_calls)
foreach(number RANGE 3)
  list(APPEND starling_openshmem_calls ${starling_openshmem_made}/calls_${number}.cpp)
endforeach()
set(starling_openshmem_headers ${starling_openshmem_include}/shmem.h ${starling_openshmem_include}/pshmem.h
  ${starling_openshmem_include}/shmemx.h)
file(GLOB starling_openshmem_inputs CONFIGURE_DEPENDS src/openshmem/*.h src/openshmem/*.h.in)
# Files that would be the same are left alone, so that nothing is compiled again: hence the stamp.
set(starling_openshmem_stamp ${starling_openshmem_made}/made)
add_custom_command(OUTPUT ${starling_openshmem_stamp}
  BYPRODUCTS ${starling_openshmem_calls} ${starling_openshmem_headers} ${starling_openshmem_made}/sets.h
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/openshmem_calls.py ${starling_openshmem_made}
  COMMAND ${CMAKE_COMMAND} -E touch ${starling_openshmem_stamp}
  DEPENDS tools/openshmem_calls.py src/openshmem/functions.json ${starling_openshmem_inputs}
  COMMENT "Making the functions of OpenSHMEM" VERBATIM)
add_custom_target(starling_openshmem_functions DEPENDS ${starling_openshmem_stamp})

file(GLOB starling_openshmem_sources CONFIGURE_DEPENDS src/openshmem/*.cpp)
add_library(starling_openshmem STATIC ${starling_openshmem_sources} ${starling_openshmem_calls})
add_library(starling::openshmem ALIAS starling_openshmem)
add_dependencies(starling_openshmem starling_openshmem_functions)
set_target_properties(starling_openshmem PROPERTIES POSITION_INDEPENDENT_CODE ON EXPORT_NAME openshmem)
# A folder of its own, so that no other shmem.h is found where this one is not asked for, nor the other way round.
target_include_directories(starling_openshmem
  PUBLIC $<BUILD_INTERFACE:${starling_openshmem_include}> $<INSTALL_INTERFACE:include/starling_openshmem>
  PRIVATE ${PROJECT_SOURCE_DIR}/src)
# Programs in C link what C++ needs, and see nothing of it.
target_link_libraries(starling_openshmem PRIVATE starling INTERFACE $<LINK_ONLY:Threads::Threads> stdc++ m)
starling_build_flags(starling_openshmem)
starling_precompile(starling_openshmem <algorithm> <atomic> <complex> <functional> <memory> <string> <thread> <vector>)

# The wrappers and the file for pkg-config: those of the build folder name it, the installed ones find what lies beside
# them.
set(locate "")
set(prefix ${PROJECT_BINARY_DIR})
set(include ${starling_openshmem_include})
set(library ${PROJECT_BINARY_DIR})
set(engines ${PROJECT_BINARY_DIR}/bin)
configure_file(cmake/openshmem/starling-oshcc.in ${PROJECT_BINARY_DIR}/bin/starling-oshcc @ONLY
  FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
configure_file(cmake/openshmem/starling-oshrun ${PROJECT_BINARY_DIR}/bin/starling-oshrun COPYONLY)
configure_file(cmake/openshmem/starling-openshmem.pc.in ${PROJECT_BINARY_DIR}/starling-openshmem.pc @ONLY)
if(NOT STARLING_INSTALL)
  return()
endif()
include(GNUInstallDirs)
set(locate "prefix=$(cd \"$(dirname \"$(readlink -f \"$0\")\")/..\" && pwd)")
set(prefix "\${prefix}")
set(include "\${prefix}/include/starling_openshmem")
set(library "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(engines "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(starling_openshmem_installed ${PROJECT_BINARY_DIR}/openshmem/installed)
configure_file(cmake/openshmem/starling-oshcc.in ${starling_openshmem_installed}/starling-oshcc @ONLY)
string(REGEX REPLACE "[^/]+" ".." up ${CMAKE_INSTALL_LIBDIR})
set(prefix "\${pcfiledir}/../${up}")
configure_file(cmake/openshmem/starling-openshmem.pc.in ${starling_openshmem_installed}/starling-openshmem.pc @ONLY)
install(PROGRAMS ${starling_openshmem_installed}/starling-oshcc cmake/openshmem/starling-oshrun
  DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT development)
install(FILES ${starling_openshmem_installed}/starling-openshmem.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
install(FILES ${starling_openshmem_headers} DESTINATION include/starling_openshmem COMPONENT development)

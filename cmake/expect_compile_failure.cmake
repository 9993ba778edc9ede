# Run with -P: compiles SOURCE with COMPILER and INCLUDES, and passes if that fails for the reason that the first line of
# the source names after `// expect: `.

file(STRINGS ${SOURCE} first_line LIMIT_COUNT 1)
if(NOT first_line MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${SOURCE}: the first line must be `// expect: <text of the error>`")
endif()
set(expected "${CMAKE_MATCH_1}")

list(TRANSFORM INCLUDES PREPEND -isystem)
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${INCLUDES} ${SOURCE}
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(FIND "${output}" "${expected}" position)
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, but must not; expected: ${expected}")
elseif(position EQUAL -1)
  message(FATAL_ERROR "${SOURCE} fails, but not as expected: ${expected}\nThe compiler said:\n${output}")
endif()

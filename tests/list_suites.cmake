# Writes a CTest entry for each test suite of a GoogleTest program into a file that CTest includes. Run when the program was
# linked: cmake -D PROGRAM=… -D FILE=… -D PREFIX=… -D FILTER=… -D ENVIRONMENT=… -D LABEL=… -D TIMEOUT=… -P list_suites.cmake
# A suite is one process: cheaper than gtest_discover_tests, which starts one for each case.
execute_process(COMMAND "${PROGRAM}" --gtest_list_tests "--gtest_filter=${FILTER}"
  OUTPUT_VARIABLE output RESULT_VARIABLE result TIMEOUT 60)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} does not list its tests: ${result}\n${output}")
endif()
string(REPLACE ";" "" output "${output}")
string(REPLACE "\n" ";" lines "${output}")

foreach(line IN LISTS lines)
  if(line MATCHES "^([^ ]+)\\.( +#.*)?$")
    set(suite "${CMAKE_MATCH_1}")
    list(APPEND suites "${suite}")
  elseif(line MATCHES "^ +([^ ]+)")
    string(APPEND cases_of_${suite} ":${suite}.${CMAKE_MATCH_1}")
  endif()
endforeach()

set(script "")
foreach(suite IN LISTS suites)
  set(name "[=[${PREFIX}${suite}]=]")
  string(SUBSTRING "${cases_of_${suite}}" 1 -1 cases)
  string(APPEND script
    "add_test(${name} [=[${PROGRAM}]=] [=[--gtest_filter=${cases}]=] --gtest_brief=1)\n"
    "set_tests_properties(${name} PROPERTIES LABELS ${LABEL} TIMEOUT ${TIMEOUT} ENVIRONMENT [=[${ENVIRONMENT}]=])\n")
endforeach()
file(WRITE "${FILE}" "${script}")

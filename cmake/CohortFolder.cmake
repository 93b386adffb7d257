# A folder of src/ is a target cohort_<folder>. Its link lines are the architecture: the layering test reads
# them back from layers.json and compares them with what the sources include.

# cohort_folder(<name> [TORCH] SOURCES <file>... [DEPENDS <folder>...] [USES <third-party target>...]
#               [SHARES <third-party target>...])
#   TORCH    the folder is above the torch line: it may include libtorch and links it
#   DEPENDS  folders whose headers this one includes
#   USES     third-party targets, private to the folder
#   SHARES   third-party targets that the folder's headers include
function(cohort_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 folder "TORCH" "" "SOURCES;DEPENDS;USES;SHARES")
  if(folder_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cohort_folder(${name}): unknown arguments ${folder_UNPARSED_ARGUMENTS}")
  endif()
  set(target cohort_${name})
  add_library(${target} STATIC ${folder_SOURCES})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${target} PRIVATE cohort_options ${folder_USES} PUBLIC ${folder_SHARES})
  foreach(dependency IN LISTS folder_DEPENDS)
    target_link_libraries(${target} PUBLIC cohort_${dependency})
  endforeach()
  if(folder_TORCH)
    target_link_libraries(${target} PUBLIC cohort_torch)
  else()
    cohort_precompile(${target} plain)
  endif()

  list(JOIN folder_DEPENDS "\", \"" depends)
  if(depends)
    set(depends "\"${depends}\"")
  endif()
  set(torch false)
  if(folder_TORCH)
    set(torch true)
  endif()
  set_property(GLOBAL APPEND PROPERTY COHORT_FOLDERS ${name})
  set_property(GLOBAL APPEND PROPERTY COHORT_LAYERS
    "    \"${name}\": {\"torch\": ${torch}, \"depends\": [${depends}]}")
endfunction()

function(cohort_write_layers file)
  get_property(layers GLOBAL PROPERTY COHORT_LAYERS)
  list(JOIN layers ",\n" layers)
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT "{\n  \"libtorch\": \"${COHORT_LIBTORCH_ROOT}\",\n  \"folders\": {\n${layers}\n  }\n}\n")
endfunction()

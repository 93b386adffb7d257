# A folder of src/, and a folder of tools/ that several programs share, is a target cohort_<folder>. Its link lines are the
# architecture: the layering test reads them back from layers.json and compares them with what the sources include.

# cohort_folder(<name> [TORCH] [ROOT src|tools] [ROOMS <sub-folder>...] SOURCES <file>... [DEPENDS <folder>...]
#               [USES <third-party target>...] [SHARES <third-party target>...])
#   TORCH    the folder is above the torch line: it may include libtorch and links it
#   ROOT     the directory that the folder is in; src without it. libcohort is made of the folders of src alone
#   ROOMS    the sub-folders, in the order of their dependencies: each may include itself and those before it. "." are the
#            folder's own files; a folder without sub-folders needs no ROOMS
#   DEPENDS  folders whose headers this one includes
#   USES     third-party targets, private to the folder
#   SHARES   third-party targets that the folder's headers include
function(cohort_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 folder "TORCH" "ROOT" "ROOMS;SOURCES;DEPENDS;USES;SHARES")
  if(folder_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cohort_folder(${name}): unknown arguments ${folder_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT folder_ROOT)
    set(folder_ROOT src)
  endif()
  set(target cohort_${name})
  add_library(${target} STATIC ${folder_SOURCES})
  target_include_directories(${target} PUBLIC "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src"
    "${PROJECT_SOURCE_DIR}/${folder_ROOT}")
  target_link_libraries(${target} PRIVATE cohort_options ${folder_USES} PUBLIC ${folder_SHARES})
  foreach(dependency IN LISTS folder_DEPENDS)
    target_link_libraries(${target} PUBLIC cohort_${dependency})
  endforeach()
  if(folder_TORCH)
    target_link_libraries(${target} PUBLIC cohort_torch)
  else()
    cohort_precompile(${target} plain)
  endif()

  _cohort_json_list(depends ${folder_DEPENDS})
  _cohort_json_list(rooms ${folder_ROOMS})
  set(torch false)
  if(folder_TORCH)
    set(torch true)
  endif()
  if(folder_ROOT STREQUAL src)
    set_property(GLOBAL APPEND PROPERTY COHORT_FOLDERS ${name})
    # Each function and each variable in a section of its own: the link of libcohort.so leaves out those that it does not need.
    target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
  endif()
  set_property(GLOBAL APPEND PROPERTY COHORT_LAYERS
    "    \"${name}\": {\"root\": \"${folder_ROOT}\", \"torch\": ${torch}, \"rooms\": ${rooms}, \"depends\": ${depends}}")
endfunction()

# Sets `result` to the words as a list of JSON.
function(_cohort_json_list result)
  list(JOIN ARGN "\", \"" words)
  if(words)
    set(words "\"${words}\"")
  endif()
  set(${result} "[${words}]" PARENT_SCOPE)
endfunction()

# layers.json: the folders with what they depend on, the test programs with what they link.
function(cohort_write_layers file)
  get_property(layers GLOBAL PROPERTY COHORT_LAYERS)
  list(JOIN layers ",\n" layers)
  get_property(tests GLOBAL PROPERTY COHORT_TESTS)
  list(JOIN tests ",\n" tests)
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT "{\n  \"libtorch\": \"${COHORT_LIBTORCH_ROOT}\",\n  \"folders\": {\n${layers}\n  },\n  \"tests\": {\n${tests}\n  }\n}\n")
endfunction()

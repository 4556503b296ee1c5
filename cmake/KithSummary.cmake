# Collects what the build has and what it left out and why, and prints it at the end of the configuration: as a notice,
# which quiet builds show too, when it is not what it was last time.

function(kith_summary name text)
  set_property(GLOBAL APPEND_STRING PROPERTY KITH_SUMMARY "\n  ${name}: ${text}")
endfunction()

function(kith_print_summary)
  get_property(lines GLOBAL PROPERTY KITH_SUMMARY)
  set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
  set(summary "Kith ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, ${compiler}${lines}")
  string(MD5 hash "${summary}")
  set(level STATUS)
  if(NOT hash STREQUAL KITH_SUMMARY_SHOWN)
    set(level NOTICE)
  endif()
  message(${level} "${summary}")
  set(KITH_SUMMARY_SHOWN ${hash} CACHE INTERNAL "")
endfunction()

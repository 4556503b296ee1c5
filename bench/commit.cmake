# Writes OUTPUT, a header with the commit of SOURCE_DIR, when it is not what the header says already.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed OR commit STREQUAL "")
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
// The commit this was built from; written by the build.
#pragma once

namespace kith::bench {
inline constexpr const char* kCommit = "@commit@";
}
]] @ONLY)

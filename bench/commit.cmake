# Writes OUTPUT, a header with the commit of SOURCE_DIR, when it is not what the header says already.
set(git git --no-optional-locks -C ${SOURCE_DIR})
execute_process(COMMAND ${git} rev-parse --short=12 --verify HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
else()
  execute_process(COMMAND ${git} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    string(APPEND commit -dirty)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
// The commit this was built from; written by the build.
#pragma once

namespace kith::bench {
inline constexpr const char* kCommit = "@commit@";
}
]] @ONLY)

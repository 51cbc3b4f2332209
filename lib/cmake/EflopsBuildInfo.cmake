# Run at every build (cmake -P): writes build_info.cpp when the commit or its cleanliness changed.
execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE EFLOPS_GIT_COMMIT
  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  set(EFLOPS_GIT_COMMIT unknown)
endif()
execute_process(COMMAND git -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
if(changes STREQUAL "")
  set(EFLOPS_GIT_DIRTY false)
else()
  set(EFLOPS_GIT_DIRTY true)
endif()
configure_file(${TEMPLATE} ${OUTPUT} @ONLY)

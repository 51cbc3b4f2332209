# Build helpers: eflops_module, eflops_program, eflops_test. Every target of ours goes through one of them.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_library(eflops_flags INTERFACE)
# No -ffast-math and no contraction: an element has the same bits wherever it stands (DESIGN D5).
target_compile_options(eflops_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Werror -ffp-contract=off)
target_include_directories(eflops_flags INTERFACE ${CMAKE_SOURCE_DIR}/lib ${CMAKE_SOURCE_DIR})
if(EFLOPS_SANITIZE)
  set(flags -fsanitize=${EFLOPS_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # GCC's own manual warns of false alarms of -Wmaybe-uninitialized in instrumented code; the other presets keep it.
  target_compile_options(eflops_flags INTERFACE ${flags} $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(eflops_flags INTERFACE ${flags})
endif()
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

# eflops_module(NAME n LEVEL l SOURCES ... [USES modules...] [LIBRARIES targets...])
# Declares lib/<n> (or <n> at the top for tasks and apps). LEVEL and USES are the module graph: tests/arch reads them from
# this very call, and an include of a module that USES does not name fails the build's tests. Third-party LIBRARIES are
# private: their headers do not reach the users of the module.
function(eflops_module)
  cmake_parse_arguments(PARSE_ARGV 0 M "" "NAME;LEVEL" "SOURCES;USES;LIBRARIES")
  add_library(eflops_${M_NAME} STATIC ${M_SOURCES})
  target_link_libraries(eflops_${M_NAME} PUBLIC eflops_flags)
  if(NOT M_NAME STREQUAL base)
    target_link_libraries(eflops_${M_NAME} PUBLIC eflops_base)
  endif()
  foreach(used IN LISTS M_USES)
    target_link_libraries(eflops_${M_NAME} PUBLIC eflops_${used})
  endforeach()
  target_link_libraries(eflops_${M_NAME} PRIVATE ${M_LIBRARIES})
endfunction()

# eflops_program(NAME eflops-x SOURCES main.cpp): one executable in build/<preset>/bin.
function(eflops_program)
  cmake_parse_arguments(PARSE_ARGV 0 P "" "NAME" "SOURCES;LIBRARIES")
  add_executable(${P_NAME} ${P_SOURCES})
  target_link_libraries(${P_NAME} PRIVATE eflops_flags ${P_LIBRARIES})
endfunction()

# eflops_test(NAME x LABEL unit TIMEOUT s SOURCES ... USES modules... [LIBRARIES ...])
# One GoogleTest executable; each TEST becomes a CTest test with the label and the timeout.
function(eflops_test)
  cmake_parse_arguments(PARSE_ARGV 0 T "" "NAME;LABEL;TIMEOUT" "SOURCES;USES;LIBRARIES")
  add_executable(${T_NAME} ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE eflops_flags GTest::gmock GTest::gtest_main ${T_LIBRARIES})
  foreach(used IN LISTS T_USES)
    target_link_libraries(${T_NAME} PRIVATE eflops_${used})
  endforeach()
  target_compile_definitions(${T_NAME} PRIVATE EFLOPS_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    EFLOPS_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  set_target_properties(${T_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  gtest_discover_tests(${T_NAME} TEST_PREFIX ${T_NAME}. DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${T_LABEL} TIMEOUT ${T_TIMEOUT})
endfunction()

# eflops_mpi_test(NAME x RANKS n TIMEOUT s SOURCES ... USES modules...)
# A program with its own main that runs as one test on n ranks, more than the cores if need be.
function(eflops_mpi_test)
  cmake_parse_arguments(PARSE_ARGV 0 T "" "NAME;RANKS;TIMEOUT" "SOURCES;USES")
  add_executable(${T_NAME} ${T_SOURCES})
  target_link_libraries(${T_NAME} PRIVATE eflops_flags GTest::gmock GTest::gtest MPI::MPI_CXX)
  foreach(used IN LISTS T_USES)
    target_link_libraries(${T_NAME} PRIVATE eflops_${used})
  endforeach()
  set_target_properties(${T_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${T_NAME} COMMAND ${MPIEXEC_EXECUTABLE} -n ${T_RANKS} --oversubscribe --bind-to none $<TARGET_FILE:${T_NAME}>)
  set_tests_properties(${T_NAME} PROPERTIES LABELS mpi TIMEOUT ${T_TIMEOUT} PROCESSORS 2
    ENVIRONMENT "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
endfunction()

# eflops_script_test(NAME x LABEL cli TIMEOUT s COMMAND ...): any command as a test; exit 77 is a skip with a printed reason.
function(eflops_script_test)
  cmake_parse_arguments(PARSE_ARGV 0 S "" "NAME;LABEL;TIMEOUT" "COMMAND")
  add_test(NAME ${S_NAME} COMMAND ${S_COMMAND} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${S_NAME} PROPERTIES LABELS ${S_LABEL} TIMEOUT ${S_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "EFLOPS_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
endfunction()

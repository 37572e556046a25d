# pa_find_python([REQUIRED] modules...)
# Finds a Python interpreter that has the modules the tests and the package
# need. A machine may have several interpreters, and the first on PATH is often
# one without them, so that find_package(Python3) alone is not enough.
function(pa_find_python)
  cmake_parse_arguments(ARG "REQUIRED" "" "" ${ARGN})
  set(modules ${ARG_UNPARSED_ARGUMENTS})
  set(candidates ${Python3_EXECUTABLE})
  foreach(name python3 python3.13 python3.12 python3.11)
    find_program(PA_PYTHON_CANDIDATE ${name} NO_CACHE)
    list(APPEND candidates ${PA_PYTHON_CANDIDATE} /usr/bin/${name} /usr/local/bin/${name})
    unset(PA_PYTHON_CANDIDATE)
  endforeach()
  list(REMOVE_DUPLICATES candidates)
  list(JOIN modules ", " imports)
  foreach(candidate ${candidates})
    if(NOT EXISTS ${candidate})
      continue()
    endif()
    execute_process(COMMAND ${candidate} -c "import ${imports}"
                    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    if(status EQUAL 0)
      set(Python3_EXECUTABLE ${candidate} CACHE FILEPATH "Python interpreter with ${imports}" FORCE)
      message(STATUS "Python with ${imports}: ${candidate}")
      return()
    endif()
  endforeach()
  if(NOT ARG_REQUIRED)
    return()
  endif()
  message(FATAL_ERROR "no Python 3 interpreter has ${imports}; tried: ${candidates}. "
    "Install python3-numpy and python3-pytest, name an interpreter with -DPython3_EXECUTABLE=, "
    "or configure with -DPAGEDATTN_BUILD_TESTS=OFF")
endfunction()

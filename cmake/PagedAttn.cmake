# Helpers shared by every directory of the project.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Compile flags of our own code. They are attached per target, so that a
# project that adds us with add_subdirectory keeps its own flags.
function(pa_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_17)
  target_include_directories(${target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE ${LLVM_DEFINITIONS_LIST})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-unused-parameter -fvisibility-inlines-hidden)
  if(PAGEDATTN_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(PAGEDATTN_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${PAGEDATTN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize=vptr,function)
    target_link_options(${target} PRIVATE -fsanitize=${PAGEDATTN_SANITIZE})
  endif()
endfunction()

separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# pa_add_library(NAME SOURCES... [DEPENDS targets...] [LINK_LIBS libs...]
#                [PCH headers...])
# A static library of the package. PCH names headers that most of its sources
# include: parsing MLIR's is most of their compile time. LLVM and MLIR are linked as the shared
# libraries only: static copies beside them register every type twice.
function(pa_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS;PCH" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(PagedAttn::${name} ALIAS ${name})
  pa_compile_options(${name})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY PAGEDATTN_LIBRARIES ${name})
  if(ARG_PCH AND PAGEDATTN_PCH)
    target_precompile_headers(${name} PRIVATE ${ARG_PCH})
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
      # A compiler cache cannot use a header file with a time stamp in it.
      target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
  endif()
  install(TARGETS ${name} EXPORT PagedAttnTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

# pa_add_tool(NAME SOURCES... [LINK_LIBS libs...])
function(pa_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  pa_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  set_property(GLOBAL APPEND PROPERTY PAGEDATTN_TOOLS ${name})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# pa_add_module(NAME SOURCES... [LINK_LIBS libs...])
# A shared library that another program loads (plugin, runner shim).
function(pa_add_module name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} SHARED ${ARG_UNPARSED_ARGUMENTS})
  pa_compile_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  set_property(GLOBAL APPEND PROPERTY PAGEDATTN_MODULES ${name})
  install(TARGETS ${name} EXPORT PagedAttnTargets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

function(pa_install_package)
  set(dest ${CMAKE_INSTALL_LIBDIR}/cmake/PagedAttn)
  install(EXPORT PagedAttnTargets NAMESPACE PagedAttn:: DESTINATION ${dest})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/PagedAttnConfig.cmake.in
    ${PROJECT_BINARY_DIR}/PagedAttnConfig.cmake INSTALL_DESTINATION ${dest})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/PagedAttnConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/PagedAttnConfig.cmake
                ${PROJECT_BINARY_DIR}/PagedAttnConfigVersion.cmake DESTINATION ${dest})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/PagedAttn ${PROJECT_BINARY_DIR}/include/PagedAttn
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc")
endfunction()

# bin/kith, the libraries, their headers, a CMake package (components: io, mpi) and pkg-config files.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kith)

install(TARGETS kith EXPORT kith-targets)
install(TARGETS kith_io EXPORT kith-io-targets)
if(TARGET kith_cli)
  install(TARGETS kith_cli)
endif()
# Without MPI the header would not compile.
set(without_mpi PATTERN mpi.hpp EXCLUDE)
if(KITH_HAS_MPI)
  install(TARGETS kith_mpi EXPORT kith-mpi-targets)
  if(TARGET kith_mpi_cli)
    install(TARGETS kith_mpi_cli)
  endif()
  set(without_mpi "")
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/kith DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.hpp PATTERN *.cuh ${without_mpi})
install(FILES ${PROJECT_SOURCE_DIR}/include/kith.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT kith-targets NAMESPACE kith:: DESTINATION ${package_dir})
install(EXPORT kith-io-targets NAMESPACE kith:: DESTINATION ${package_dir})
if(KITH_HAS_MPI)
  install(EXPORT kith-mpi-targets NAMESPACE kith:: DESTINATION ${package_dir})
endif()

# Before 1.0 a minor release may change the interface.
set(compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kith-config-version.cmake COMPATIBILITY ${compatibility})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kith-config.cmake.in ${PROJECT_BINARY_DIR}/kith-config.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
install(FILES ${PROJECT_BINARY_DIR}/kith-config.cmake ${PROJECT_BINARY_DIR}/kith-config-version.cmake
  DESTINATION ${package_dir})

# pkg-config files find the prefix from where they lie, so that an installed tree can be moved.
string(REGEX REPLACE "[^/]+" ".." pc_prefix ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(packages kith kith-io)
if(KITH_HAS_MPI)
  list(APPEND packages kith-mpi)
endif()
foreach(name IN LISTS packages)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# What the library is linked with. Each becomes an interface target kith_dep_<name>, so that nothing of it shows in the
# installed package: the shared libraries carry their own dependencies.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

function(kith_dependency name)
  add_library(kith_dep_${name} INTERFACE)
  target_link_libraries(kith_dep_${name} INTERFACE ${ARGN})
endfunction()

# The threads are the library's own; OpenMP tells how many a caller wants, and OpenBLAS how many it may start.
if(KITH_OPENMP)
  find_package(OpenMP REQUIRED COMPONENTS CXX)
  kith_dependency(threads OpenMP::OpenMP_CXX Threads::Threads)
else()
  kith_dependency(threads Threads::Threads)
endif()

# The OpenMP flavor of OpenBLAS can be kept to one thread for each of ours apart; that of pthreads has one setting for the
# process. Debian keeps the flavors in folders of their own.
if(KITH_OPENMP)
  find_path(KITH_OPENBLAS_INCLUDE_DIR cblas.h
    PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
  find_library(KITH_OPENBLAS_LIBRARY openblas
    PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
endif()
if(KITH_OPENBLAS_INCLUDE_DIR AND KITH_OPENBLAS_LIBRARY)
  kith_dependency(blas ${KITH_OPENBLAS_LIBRARY})
  target_include_directories(kith_dep_blas SYSTEM INTERFACE ${KITH_OPENBLAS_INCLUDE_DIR})
  kith_summary("blas" "OpenBLAS (OpenMP), ${KITH_OPENBLAS_LIBRARY}")
else()
  pkg_check_modules(OpenBLAS REQUIRED IMPORTED_TARGET openblas)
  kith_dependency(blas PkgConfig::OpenBLAS)
  kith_summary("blas" "OpenBLAS ${OpenBLAS_VERSION}, not known to be its OpenMP flavor")
endif()

pkg_check_modules(Highway REQUIRED IMPORTED_TARGET libhwy libhwy-contrib)
kith_dependency(highway PkgConfig::Highway)

find_package(fmt REQUIRED)
kith_dependency(fmt fmt::fmt)

pkg_search_module(Hdf5 REQUIRED IMPORTED_TARGET hdf5-serial hdf5)
kith_dependency(hdf5 PkgConfig::Hdf5)

pkg_check_modules(Zip REQUIRED IMPORTED_TARGET libzip)
kith_dependency(zip PkgConfig::Zip)

find_package(ZLIB REQUIRED)
kith_dependency(zlib ZLIB::ZLIB)

find_package(nlohmann_json REQUIRED)
kith_dependency(json nlohmann_json::nlohmann_json)

find_package(FastFloat REQUIRED)
kith_dependency(fast_float FastFloat::fast_float)

kith_summary("libraries" "Highway ${Highway_libhwy_VERSION}, fmt ${fmt_VERSION}, HDF5 ${Hdf5_VERSION}, libzip ${Zip_VERSION}")

# Which backends are built. The device sources are compiled once for each of cuda and emulated: when KITH_HAS_CUDA is set
# here, those with kernels, KITH_KERNEL_SOURCES, by the CUDA compiler and the others, KITH_DEVICE_SOURCES, by the host
# compiler, which is faster; when KITH_HAS_EMULATED is, all by the host compiler against emulator/.

kith_summary("cpu backend" "in")

file(GLOB_RECURSE KITH_KERNEL_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)
file(GLOB_RECURSE KITH_DEVICE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cpp)

set(KITH_HAS_CUDA OFF)
if(NOT KITH_CUDA)
  kith_summary("cuda backend" "left out (KITH_CUDA is off)")
else()
  # Given before CMake chooses one: its choice would be the oldest that the compiler knows.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90-real)
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # CMake 3.25 does not know that nvcc has C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    endif()
    find_package(CUDAToolkit REQUIRED)
    set(KITH_HAS_CUDA ON)
    list(JOIN CMAKE_CUDA_ARCHITECTURES ", " architectures)
    kith_summary("cuda backend" "in (nvcc ${CMAKE_CUDA_COMPILER_VERSION}, for ${architectures})")
  else()
    kith_summary("cuda backend" "left out (no CUDA compiler found)")
  endif()
endif()

set(KITH_HAS_EMULATED OFF)
if(NOT KITH_EMULATED)
  kith_summary("emulated backend" "left out (KITH_EMULATED is off)")
else()
  # The static one where there is one, so that the library needs nothing more at run time.
  set(Boost_USE_STATIC_LIBS ON)
  find_package(Boost QUIET COMPONENTS context)
  if(NOT Boost_CONTEXT_FOUND)
    set(Boost_USE_STATIC_LIBS OFF)
    find_package(Boost QUIET COMPONENTS context)
  endif()
  if(Boost_CONTEXT_FOUND)
    set(KITH_HAS_EMULATED ON)
    kith_summary("emulated backend" "in (Boost.Context ${Boost_VERSION})")
  else()
    kith_summary("emulated backend" "left out (no Boost.Context found)")
  endif()
endif()

# Which backends are built. The device sources, KITH_DEVICE_SOURCES, are compiled once for each of cuda and emulated: by
# the CUDA compiler when KITH_HAS_CUDA is set here, by the host compiler against emulator/ when KITH_HAS_EMULATED is.

kith_summary("cpu backend" "in")

file(GLOB_RECURSE KITH_DEVICE_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cuda/*.cu)

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
  find_package(Boost QUIET COMPONENTS context)
  if(Boost_CONTEXT_FOUND)
    set(KITH_HAS_EMULATED ON)
    kith_summary("emulated backend" "in (Boost.Context ${Boost_VERSION})")
  else()
    kith_summary("emulated backend" "left out (no Boost.Context found)")
  endif()
endif()

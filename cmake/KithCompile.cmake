# How everything is compiled: kith_compile_library(target) for the library's objects, kith_compile_shell(target) for what
# is built around it, kith_compile(target) for the rest; and kith_compile_cuda(target) and kith_compile_emulated(target)
# for device sources.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(KITH_CCACHE ccache)
  if(KITH_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${KITH_CCACHE})
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${KITH_CCACHE})
  endif()
endif()

if(KITH_SANITIZE)
  add_compile_options(-fsanitize=${KITH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KITH_SANITIZE})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  kith_summary("sanitizers" "${KITH_SANITIZE}")
endif()

# Keys must have the same bits in every build, and the tests' oracle too, so the compiler may not fuse a multiplication
# with an addition.
function(kith_compile target)
  set(options -Wall -Wextra -Wpedantic -Wshadow -Wconversion -ffp-contract=off)
  # g++ 12 at -O3 is wrong about assignments to std::string (GCC bug 105329) and about fmt's parser.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND options -Wno-restrict -Wno-stringop-overflow)
  endif()
  # What clang says beyond g++: of signs, as part of -Wconversion; of array elements in branches that are never taken; and
  # of libstdc++ 12, which deprecates what its stable_sort calls.
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    list(APPEND options -Wno-sign-conversion -Wno-array-bounds -Wno-deprecated-declarations)
  endif()
  # A source that is included into one with others has a right to types of its own. clang does not know the warning.
  if(CMAKE_UNITY_BUILD)
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      list(APPEND options -Wno-subobject-linkage)
    endif()
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD_CODE_BEFORE_INCLUDE "// NOLINTNEXTLINE(bugprone-suspicious-include)")
  endif()
  if(KITH_WERROR)
    list(APPEND options -Werror)
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${options}>")
endfunction()

function(kith_compile_library target)
  kith_compile(${target})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# Command line and tests: big headers, nothing that takes time when run. What counts is how long they take to compile, so
# the checks of UBSan that guard every access are kept for the library.
function(kith_compile_shell target)
  kith_compile(${target})
  if(KITH_SANITIZE MATCHES undefined)
    target_compile_options(${target} PRIVATE -O0 -fno-sanitize=vptr,null,alignment,object-size)
  elseif(KITH_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>")
  endif()
endfunction()

# Device sources; those for the host compiler are compiled as one of the functions above says. nvcc may not fuse either: a
# kernel that wants it says fmaf. What it generates does not stand -Wpedantic, -Wshadow and -Wconversion; the emulated
# twin is compiled with them.
function(kith_compile_cuda target)
  kith_compile_cuda_for(${target} ${KITH_GENERATE_CODE})
endfunction()

function(kith_compile_cuda_for target)
  target_compile_definitions(${target} PRIVATE KITH_BACKEND=cuda)
  target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  set(options -fmad=false --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-ffp-contract=off)
  if(KITH_WERROR)
    list(APPEND options -Werror=all-warnings)
  endif()
  if(KITH_CUDA_QUICK AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    list(APPEND options "SHELL:-Ofc max")
  endif()
  # A quarter of the size, for which every process that uses kernels unpacks them a little longer.
  if(KITH_CUDA_ARCHS STREQUAL package AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    list(APPEND options --compress-mode=size)
  endif()
  list(APPEND options ${ARGN})
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${options}>")
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES OFF CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF
    CUDA_RUNTIME_LIBRARY Static CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# Kernels with wgmma are compiled for the one chip that has it, whatever the others are compiled for; and never quickly:
# sums would leave their registers for every product.
function(kith_compile_cuda_sm90a target)
  set(KITH_CUDA_QUICK OFF)
  kith_compile_cuda_for(${target} "--generate-code=arch=compute_90a,code=[sm_90a]")
endfunction()

# Never a measure of speed, and many templates: what counts is how long they take to compile. Device sources come to the
# compiler as included files, which have a right to types of their own.
function(kith_compile_emulated target)
  target_compile_definitions(${target} PRIVATE KITH_BACKEND=emulated KITH_IS_EMULATED)
  target_include_directories(${target} BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/emulator/include)
  target_compile_options(${target} PRIVATE -Wno-unknown-pragmas $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>
    $<$<NOT:$<CONFIG:Debug>>:-O1>)
  # For clang-tidy: clang 14 has _Float16 on these processors alone, and warns of branches that are never taken.
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
    target_compile_options(${target} PRIVATE -mavx512fp16 -Wno-array-bounds)
  endif()
endfunction()

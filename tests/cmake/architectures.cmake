# What KithArchitectures makes of devices, compilers and lists: cmake -P architectures.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/../../cmake/KithArchitectures.cmake)

function(expect what wanted)
  if(NOT "${what}" STREQUAL "${wanted}")
    message(FATAL_ERROR "${what} instead of ${wanted}")
  endif()
endfunction()

# expect_code(ARCHITECTURES MACHINE_CODE PTX)
function(expect_code architectures machine_code ptx)
  kith_device_code("${architectures}" found_machine_code found_ptx)
  expect("${found_machine_code} and ${found_ptx}" "${machine_code} and ${ptx}")
endfunction()

set(CMAKE_CUDA_ARCHITECTURES_ALL 80-real 90-real 120)
set(CMAKE_CUDA_ARCHITECTURES_ALL_MAJOR 80-real 120)
set(CMAKE_CUDA_ARCHITECTURES_NATIVE 89-real)
expect_code("90-real" "90" "")
expect_code("80-real;86-real;120" "80,86,120" "120")
expect_code("90a-real;100f;120-virtual" "90a,100f" "100f,120")
expect_code("all" "80,90,120" "120")
expect_code("all-major" "80,120" "120")
expect_code("native" "89" "")

# expect_choice(WHICH CAPABILITIES WANTED), by the compiler that is set.
function(expect_choice which capabilities wanted)
  kith_choose_architectures("${which}" "${capabilities}" found)
  expect("${found}" "${wanted}")
endfunction()

# expect_options(MACHINE_CODE PTX OPTION...)
function(expect_options machine_code ptx)
  kith_generate_code("${machine_code}" "${ptx}" found)
  expect("${found}" "${ARGN}")
endfunction()

expect_options("86" "" "--generate-code=arch=compute_80,code=[sm_86]")
expect_options("80,86,90,90a,120" "90" "--generate-code=arch=compute_80,code=[sm_80,sm_86]"
  "--generate-code=arch=compute_90,code=[sm_90,sm_120,compute_90]" "--generate-code=arch=compute_90a,code=[sm_90a]")
expect_options("" "80" "--generate-code=arch=compute_80,code=[compute_80]")

# Stands in for a compiler: its answer are its arguments.
set(CMAKE_CUDA_COMPILER ${CMAKE_COMMAND} -E echo compute_75 compute_80 compute_86 compute_89 compute_90)
expect_choice(package "" "80-real;86-real;89-real;90-real;90-virtual")
expect_choice(package "8.6" "80-real;86-real;89-real;90-real;90-virtual")
expect_choice(here "" "90-real")
expect_choice(here "7.5" "90-real")
expect_choice(here "8.6;8.6;7.5;9.0" "86-real;90-real")
expect_choice(here "12.0" "90-virtual")

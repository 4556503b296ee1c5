// host_device.hpp: KITH_HOST_DEVICE marks functions that kernels call too; compilers other than nvcc ignore it.
#pragma once

#if defined(__CUDACC__)
#define KITH_HOST_DEVICE __host__ __device__
#else
#define KITH_HOST_DEVICE
#endif

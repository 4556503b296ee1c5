// host_device.hpp: marks functions that kernels call too. To any compiler but nvcc they are functions like others.
#pragma once

#if defined(__CUDACC__)
#define KITH_HOST_DEVICE __host__ __device__
#else
#define KITH_HOST_DEVICE
#endif

"""Arrays that claim to lie on a device, the emulated one, whose memory is NumPy's.

They go the way of CUDA arrays: nothing but ``backend="emulated"`` takes them, and NumPy cannot read them.
"""

import numpy as np

from kith import _libraries

KIND = 12  # DLPack's kDLExtDev, for devices of extensions


class Array:
    def __init__(self, values):
        self.values = values

    shape = property(lambda self: self.values.shape)
    dtype = property(lambda self: self.values.dtype)
    strides = property(lambda self: self.values.strides)
    itemsize = property(lambda self: self.values.itemsize)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, at):
        return Array(self.values[at])

    def astype(self, dtype, copy=True):
        return Array(self.values.astype(dtype, copy=copy))

    def __dlpack_device__(self):
        return (KIND, 0)

    def __dlpack__(self, stream=None):
        assert stream in (1, -1)
        return self.values.__dlpack__()


class Device(_libraries.DeviceLibrary):
    def packed(self, array):
        return Array(np.ascontiguousarray(array.values))

    def empty(self, shape, dtype, stream):
        return Array(np.full(shape, 77, dtype))

    def from_host(self, array):
        return Array(array)

    def ones_like(self, array, stream):
        return Array(np.ones_like(array.values))


_libraries.DEVICE_KINDS.add(KIND)
_libraries.DEVICE_LIBRARIES["emulated_arrays"] = Device

#include "io/hdf5_image.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace kith::io {
namespace {

constexpr std::size_t kGrowth = 64 * 1024;

}  // namespace

Hdf5Image::Hdf5Image(OutputFile& file, std::size_t reserve) : file_(file), reserve_(reserve + kGrowth) {
  const bool direct = file.temporary().empty();
  if (!direct) {
    const int error = ::posix_fallocate(file.descriptor(), 0, static_cast<off_t>(reserve_));
    if (error != 0) file.fail(error);
  }
  void* map =
      direct ? ::mmap(nullptr, reserve_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
             : ::mmap(nullptr, reserve_, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor(), 0);
  if (map == MAP_FAILED) file.fail(errno);
  data_ = static_cast<std::byte*>(map);
}

Hdf5Image::~Hdf5Image() {
  if (data_ != nullptr) ::munmap(data_, reserve_);
}

void* Hdf5Image::allocate(std::size_t size, H5FD_file_image_op_t operation, void* image) {
  return resize(nullptr, size, operation, image);
}

// Always the same memory; it never moves.
void* Hdf5Image::resize(void*, std::size_t size, H5FD_file_image_op_t, void* image) {
  const auto& self = *static_cast<const Hdf5Image*>(image);
  return size <= self.reserve_ ? self.data_ : nullptr;
}

herr_t Hdf5Image::release(void*, H5FD_file_image_op_t, void*) {
  return 0;
}

bool Hdf5Image::attach(hid_t access) {
  H5FD_file_image_callbacks_t callbacks = {};
  callbacks.image_malloc = allocate;
  callbacks.image_realloc = resize;
  callbacks.image_free = release;
  callbacks.udata = this;
  callbacks.udata_copy = [](void* image) { return image; };
  callbacks.udata_free = [](void*) -> herr_t { return 0; };
  return H5Pset_fapl_core(access, kGrowth, false) >= 0 && H5Pset_file_image_callbacks(access, &callbacks) >= 0;
}

void Hdf5Image::finish(std::size_t size) {
  if (file_.temporary().empty()) {
    file_.write(data_, size);
    return;
  }
  if (::ftruncate(file_.descriptor(), static_cast<off_t>(size)) != 0) file_.fail(errno);
}

}  // namespace kith::io

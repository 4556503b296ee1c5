// owned_array.hpp: a C++ vector or matrix as a NumPy array, without a copy.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "kith/matrix.hpp"

namespace kith::python {

// NumPy's int64 is a C long; one of long long, which the buffer protocol gives, prints and hashes as another type.
template <class T>
nb::object with_usual_dtype(nb::object array) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, std::int64_t>) return array.attr("view")("l");
  return array;
}

template <class T>
nb::object owned_array(T* data, std::initializer_list<std::size_t> shape, nb::capsule owner) {
  return with_usual_dtype<T>(nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner)));
}

template <class T>
nb::object owned_array(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* data = kept->data();
  nb::capsule owner(kept.release(), [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return owned_array(data, shape, std::move(owner));
}

template <class T>
nb::object owned_array(std::vector<T> values) {
  const std::size_t size = values.size();
  return owned_array(std::move(values), {size});
}

template <class T>
nb::object owned_array(Matrix<T> matrix) {
  auto kept = std::make_unique<Matrix<T>>(std::move(matrix));
  T* data = kept->data();
  const auto rows = static_cast<std::size_t>(kept->rows());
  const auto cols = static_cast<std::size_t>(kept->cols());
  nb::capsule owner(kept.release(), [](void* pointer) noexcept { delete static_cast<Matrix<T>*>(pointer); });
  return owned_array(data, {rows, cols}, std::move(owner));
}

}  // namespace kith::python

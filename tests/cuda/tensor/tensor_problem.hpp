// tensor_problem.hpp: points of small integers as tensor cores take them, and their scores by plain sums: products and
// sums are exact in every element.
#pragma once

#include "cuda/runtime/fp16.cuh"
#include "cuda/tensor/tensor_filter.hpp"
#include "distance/candidate_lists.hpp"

namespace kith::test::tensor {

using device::Fp16;
using device::tensor::Element;

// Rows padded with zeros to whole 16 bytes. Values are `whole + part / 64`, of which the parts are remainders.
struct Points {
  Points(Element kind, std::int64_t points, std::int64_t coordinates, bool with_remainders, Random& random)
      : element(kind), count(points), dims(coordinates), remainders(with_remainders) {
    const std::int64_t least = kind == Element::uint8 ? 0 : -8;
    for (std::int64_t i = 0; i < count * dims; ++i) {
      whole.push_back(static_cast<int>(least + random.below(17)));
      part.push_back(remainders ? static_cast<int>(random.below(7)) - 3 : 0);
    }
  }

  std::int64_t row_bytes() const { return device::ceil_div(dims * element_bytes(element), 16) * 16; }
  std::int64_t padded_dims() const { return row_bytes() / element_bytes(element); }

  // One byte after the other; of the remainders, or of the rest.
  std::vector<unsigned char> bytes(bool of_remainders) const {
    std::vector<unsigned char> all(static_cast<std::size_t>(count * row_bytes()), 0);
    for (std::int64_t row = 0; row < count; ++row)
      for (std::int64_t c = 0; c < dims; ++c) {
        const auto i = static_cast<std::size_t>(row * dims + c);
        unsigned char* const to = all.data() + row * row_bytes() + c * element_bytes(element);
        if (element == Element::fp16) {
          const Fp16 value =
              device::fp16_of(of_remainders ? static_cast<float>(part[i]) / 64 : static_cast<float>(whole[i]));
          std::memcpy(to, &value, sizeof(value));
        } else {
          *to = static_cast<unsigned char>(whole[i]);
        }
      }
    return all;
  }

  Element element;
  std::int64_t count;
  std::int64_t dims;
  bool remainders;
  std::vector<int> whole;
  std::vector<int> part;
};

// What the tensor cores add up: all but the products of two remainders.
inline float product(const Points& x, std::int64_t i, const Points& y, std::int64_t j) {
  int sum = 0;
  for (std::int64_t c = 0; c < x.dims; ++c) {
    const auto a = static_cast<std::size_t>(i * x.dims + c);
    const auto b = static_cast<std::size_t>(j * y.dims + c);
    sum += 64 * x.whole[a] * y.whole[b] + x.whole[a] * y.part[b] + x.part[a] * y.whole[b];
  }
  return static_cast<float>(sum) / 64;
}

struct Shape {
  Element element;
  std::int64_t queries;
  std::int64_t base;
  std::int64_t dims;
  bool expanded = true;
  bool remainders = false;
  bool mirrored = false;  // the queries are the base
};

class Problem {
 public:
  Problem(const Shape& shape, Random& random)
      : shape_(shape),
        queries_(shape.element, shape.queries, shape.dims, shape.remainders, random),
        base_(shape.mirrored ? queries_ : Points(shape.element, shape.base, shape.dims, shape.remainders, random)),
        x_(queries_.bytes(false), stream_),
        x_remainders_(queries_.bytes(true), stream_),
        y_(base_.bytes(false), stream_),
        y_remainders_(base_.bytes(true), stream_),
        bias_(make_bias(), stream_) {
    for (std::int64_t i = 0; i < shape.queries; ++i)
      for (std::int64_t j = 0; j < shape.base; ++j) {
        const float dot = product(queries_, i, base_, j);
        scores_.push_back(shape.expanded ? biases_[static_cast<std::size_t>(j)] - 2 * dot : -dot);
      }
  }

  const std::vector<float>& scores() const { return scores_; }
  cudaStream_t stream() const { return stream_; }

  // Of every step-th base point.
  device::tensor::TensorProduct call(std::int64_t step = 1) {
    return {.element = shape_.element,
            .queries = {x_.data(), shape_.remainders ? x_remainders_.data() : nullptr, shape_.queries,
                        queries_.row_bytes()},
            .base = {y_.data(), shape_.remainders ? y_remainders_.data() : nullptr, shape_.base / step,
                     base_.row_bytes() * step},
            .dims = queries_.padded_dims(),
            .bias = shape_.expanded ? bias_.data() : nullptr,
            .bias_step = step,
            .factor = shape_.expanded ? -2.0F : -1.0F};
  }

 private:
  // Any integers will do; odd ones must.
  std::vector<float> make_bias() {
    for (std::int64_t j = 0; j < shape_.base; ++j) biases_.push_back(static_cast<float>(j * 37 % 101));
    return biases_;
  }

  Shape shape_;
  device::Stream stream_;
  Points queries_;
  Points base_;
  std::vector<float> biases_;
  DeviceArray<unsigned char> x_;
  DeviceArray<unsigned char> x_remainders_;
  DeviceArray<unsigned char> y_;
  DeviceArray<unsigned char> y_remainders_;
  DeviceArray<float> bias_;
  std::vector<float> scores_;
};

inline std::string name_of(const Shape& shape) {
  const char* const names[] = {"fp16", "int8", "uint8"};
  return std::string(names[static_cast<unsigned>(shape.element)]) + ", " + std::to_string(shape.queries) + " x " +
         std::to_string(shape.base) + " x " + std::to_string(shape.dims) + (shape.expanded ? ", expanded" : "") +
         (shape.remainders ? ", remainders" : "") + (shape.mirrored ? ", mirrored" : "");
}

}  // namespace kith::test::tensor

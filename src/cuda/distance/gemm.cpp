// gemm.cpp: scores by one matrix product, −⟨x,y⟩ or bias − 2⟨x,y⟩, in working precision or of points in fp16.
// Cost    2·q·n·d operations at the rate of the library, and one write of the scores.
// Limits  sizes up to 2^31 − 1.
#include <string>

#include "cuda/distance/scores.hpp"
#include "cuda/primitives/matrix_multiply.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::distance {

namespace {

const char* form_name(core::Form form) {
  switch (form) {
    case core::Form::squared: return "squared without bias";
    case core::Form::absolute: return "absolute";
    case core::Form::maximum: return "maximum";
    case core::Form::power: return "power";
    case core::Form::mismatch: return "mismatch";
    case core::Form::ratio: return "ratio";
    case core::Form::dot: return "dot";
  }
  return "unknown";
}

template <class T>
MatrixRows<T> matrix_rows(const PointRows<T>& rows) {
  return {rows.data, rows.count, rows.stride};
}

MatrixRows<Fp16> matrix_rows(const Fp16Rows& rows) {
  return {rows.data, rows.count, rows.stride};
}

}  // namespace

template <class F>
void gemm_scores(const ScoreCall<F>& call) {
  const bool expanded = call.form == core::Form::squared && call.expanded();
  if (!expanded && call.form != core::Form::dot)
    throw Error(ErrorCode::invalid_argument, std::string("scores of form ") + form_name(call.form) +
                                                 " are no matrix product; dot is, and squared with bias");
  multiply(MultiplyCall<F>{.left = matrix_rows(call.queries),
                           .right = matrix_rows(call.base),
                           .inner = call.dims,
                           .alpha = expanded ? -2.0 : -1.0,
                           .bias = expanded ? call.bias : nullptr,
                           .result = call.scores,
                           .result_stride = call.score_stride,
                           .workspace = call.workspace});
}

void fp16_gemm_scores(const Fp16ScoreCall& call) {
  if (call.base.stride < call.queries.stride)
    throw Error(ErrorCode::invalid_argument, "queries of " + std::to_string(call.queries.stride) +
                                                 " fp16 a row and a base of " + std::to_string(call.base.stride));
  const double factor = call.bias != nullptr ? -2.0 : -1.0;
  multiply(MultiplyCall<Fp16>{.left = matrix_rows(call.queries),
                              .right = matrix_rows(call.base),
                              .inner = call.queries.stride,
                              .alpha = factor / (call.queries.scale * call.base.scale),
                              .bias = call.bias,
                              .result = call.scores,
                              .result_stride = call.score_stride,
                              .workspace = call.workspace});
}

template void gemm_scores(const ScoreCall<float>&);
template void gemm_scores(const ScoreCall<double>&);

}  // namespace kith::KITH_BACKEND::distance

// product_samples.hpp: what products of these points are good for, by some queries and some points. Norms must be
// there.
#pragma once

#include "cpu/prepared_rows.hpp"

namespace kith::cpu {

// Whether ‖y‖² − 2⟨x,y⟩ in working precision tells the nearest points of a sample apart. Where it does not (tight
// clusters far from the origin), the direct form is faster.
template <Element T>
bool expansion_is_sharp(const PreparedRows<T>& base, const PreparedRows<T>& queries);

// Points whose scores by products of bfloat16 cannot be told from that of the nearest, itself included: as many get a
// key for each neighbor. For metrics that are products.
template <Element T>
double bf16_candidates(const PreparedRows<T>& base, const PreparedRows<T>& queries);

}  // namespace kith::cpu

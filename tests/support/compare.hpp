// Comparing answers: each function says what differs, where, and by how much.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kith/error.hpp"
#include "kith/search.hpp"
#include "support/oracle.hpp"

namespace kith::test {

// The answer is the oracle's: same shape, same ids, same distances, as closely as `agreement` asks. Where it allows an
// error, ids may differ among distances that lie within it, but must be distinct and sorted by what was returned.
template <class D>
testing::AssertionResult matches_truth(const Neighbors<D>& got, const Truth<D>& truth, std::int64_t k,
                                       Agreement agreement = {}, bool self_excluded = false);

// Bit for bit the same ids and distances.
template <class D>
testing::AssertionResult same_answer(const Neighbors<D>& got, const Neighbors<D>& want);

// |got − want| within the agreement; equal infinities agree, NaN never does.
bool agrees(double got, double want, Agreement agreement);

// `work` throws kith::Error with this code and a message that contains every one of `mentions`.
testing::AssertionResult fails_with(ErrorCode code, const std::vector<std::string>& mentions,
                                    const std::function<void()>& work);

// What `work` wrote on stdout and stderr.
std::string printed_by(const std::function<void()>& work);

}  // namespace kith::test

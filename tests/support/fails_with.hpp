// fails_with.hpp: errors as tests expect them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "kith/error.hpp"

namespace kith::test {

// `work` throws kith::Error with this code and a message that contains every one of `mentions`.
testing::AssertionResult fails_with(ErrorCode code, const std::vector<std::string>& mentions,
                                    const std::function<void()>& work);

}  // namespace kith::test

// Runs a check once for every instruction set this machine and the library share.
#pragma once

#include "cpu/simd/targets.hpp"

#include <gtest/gtest.h>
#include <hwy/highway.h>

namespace kith::test {

template <class Check>
void on_every_target(Check check) {
  // The library compiles for these; plain code stands for the machines before AVX2.
  const std::int64_t targets = hwy::SupportedTargets() & (HWY_AVX2 | HWY_AVX3 | HWY_NEON | HWY_SCALAR | HWY_EMU128);
  for (std::int64_t rest = targets; rest != 0; rest &= rest - 1) {
    const std::int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace kith::test

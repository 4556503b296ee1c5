// expression_program.hpp: a formula's tree as steps for the kernel of cpu/simd/expression_vm.hpp.
#pragma once

#include "core/expression.hpp"
#include "cpu/simd/expression_vm.hpp"

namespace kith::custom {

// `fuse`: sums of common terms get loops of their own.
cpu::VmProgram compile_expression(const core::Expression& expression, bool fuse);

}  // namespace kith::custom

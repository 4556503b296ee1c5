#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/expression.hpp"
#include "kith/error.hpp"

// Whatever the bytes, a formula is parsed into nodes that come after their arguments, or Error(invalid_argument) comes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kith;
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  try {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
    const core::Expression parsed = core::parse_expression({reinterpret_cast<const char*>(data), size});
    const auto count = static_cast<int>(parsed.nodes.size());
    require(parsed.root >= 0 && parsed.root < count);
    require(parsed.nodes.size() <= core::ExpressionLimits::kNodes);
    require(!parsed.nodes[static_cast<std::size_t>(parsed.root)].by_coordinate);
    for (int at = 0; at < count; ++at) {
      const core::ExpressionNode& node = parsed.nodes[static_cast<std::size_t>(at)];
      for (int i = 0; i < 3; ++i) require(i < core::arity(node.op) ? node.arguments[i] >= 0 : node.arguments[i] == -1);
      for (const int argument : node.arguments) require(argument < at);
    }
    static_cast<void>(core::built_in_metric(parsed));
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_argument);
  }
  return 0;
}

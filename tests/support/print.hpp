// print.hpp: what options choose among prints its name in messages.
#pragma once

#include <ostream>
#include <type_traits>

#include "kith/options.hpp"

namespace kith {

template <class Value>
requires std::is_enum_v<Value> && requires(Value value) {
  to_string(value);
}
std::ostream& operator<<(std::ostream& out, Value value) {
  return out << to_string(value);
}

}  // namespace kith

// The names of backends and methods; programs that have no more of the library than a planner know them too.
#include "core/names.hpp"
#include "kith/options.hpp"

namespace kith {
namespace {

using core::Name;

constexpr std::array<Name<Backend>, 4> kBackends{{
    {"auto", Backend::automatic},
    {"cpu", Backend::cpu},
    {"cuda", Backend::cuda},
    {"emulated", Backend::emulated},
}};

constexpr std::array<Name<Method>, 6> kMethods{{
    {"auto", Method::automatic},
    {"brute", Method::brute},
    {"two-stage", Method::two_stage},
    {"fused", Method::fused},
    {"triangle", Method::triangle},
    {"shifted-sort", Method::shifted_sort},
}};

}  // namespace

const char* to_string(Backend backend) noexcept {
  return core::name_of(kBackends, backend);
}

const char* to_string(Method method) noexcept {
  return core::name_of(kMethods, method);
}

Backend parse_backend(std::string_view name) {
  return core::parse_name(kBackends, "backend", name);
}

Method parse_method(std::string_view name) {
  return core::parse_name(kMethods, "method", name);
}

}  // namespace kith

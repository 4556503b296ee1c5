// The names of backends and methods; programs that have no more of the library than a planner know them too.
#include "api/names.hpp"
#include "kith/options.hpp"

namespace kith {
namespace {

using api::Name;

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
  return api::name_of(kBackends, backend);
}

const char* to_string(Method method) noexcept {
  return api::name_of(kMethods, method);
}

Backend parse_backend(std::string_view name) {
  return api::parse_name(kBackends, "backend", name);
}

Method parse_method(std::string_view name) {
  return api::parse_name(kMethods, "method", name);
}

}  // namespace kith

#include "kith/graph.hpp"

#include <array>

#include "api/searcher.hpp"
#include "core/names.hpp"

namespace kith {
namespace {

constexpr std::array<core::Name<Symmetrize>, 3> kSymmetrizations{{
    {"none", Symmetrize::none},
    {"union", Symmetrize::either},
    {"mutual", Symmetrize::mutual},
}};

}  // namespace

const char* to_string(Symmetrize symmetrize) noexcept {
  return core::name_of(kSymmetrizations, symmetrize);
}

Symmetrize parse_symmetrize(std::string_view name) {
  return core::parse_name(kSymmetrizations, "symmetrization", name);
}

template <Element T>
Graph<DistanceOf<T>> graph(MatrixView<T> points, std::int64_t k, Symmetrize symmetrize, const Options& options,
                           void* stream) {
  return api::Searcher<T>(points, options, stream).graph(k, symmetrize, stream);
}

#define KITH_INSTANTIATE(T) \
  template KITH_API Graph<DistanceOf<T>> graph(MatrixView<T>, std::int64_t, Symmetrize, const Options&, void*);
KITH_INSTANTIATE(float)
KITH_INSTANTIATE(double)
KITH_INSTANTIATE(std::uint8_t)
KITH_INSTANTIATE(std::int8_t)
#undef KITH_INSTANTIATE

}  // namespace kith

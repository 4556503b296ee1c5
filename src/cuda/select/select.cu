#include "cuda/select/select.hpp"

#include <limits>

#include "cuda/runtime/properties.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND {
namespace {

constexpr std::string_view kAutomatic = "auto";
constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

// A method and the calls it is the fastest for: those that pass none of the limits.
struct Crossover {
  std::int64_t rows_a_processor;
  std::int64_t length;
  std::int64_t k;
  std::int64_t value_bytes;
  std::string_view method;
};

// The first that fits is taken; the last fits always.
constexpr Crossover kCrossovers[] = {
    {kAny, kAny, kAny, kAny, "threshold-filter"},
};

template <class T>
struct Method {
  std::string_view name;
  void (*run)(const SelectCall<T>&);
};

#define KITH_ENTRY(function, name) {name, select::function<T>},
template <class T>
constexpr Method<T> kMethods[] = {KITH_SELECT_METHODS(KITH_ENTRY)};
#undef KITH_ENTRY

}  // namespace

std::string_view choose_method(std::int64_t rows, std::int64_t length, std::int64_t k, std::size_t value_bytes,
                               unsigned processors) {
  const std::int64_t share = ceil_div(rows, processors);
  const auto bytes = static_cast<std::int64_t>(value_bytes);
  const Crossover* entry = kCrossovers;
  while (share > entry->rows_a_processor || length > entry->length || k > entry->k || bytes > entry->value_bytes)
    ++entry;
  return entry->method;
}

std::vector<std::string> select_method_names() {
  std::vector<std::string> names = {std::string(kAutomatic)};
  for (const auto& method : kMethods<float>) names.emplace_back(method.name);
  return names;
}

template <class T>
void select_rows(const SelectCall<T>& call, std::string_view method) {
  if (method == kAutomatic)
    method = choose_method(call.rows.rows, call.rows.length, call.k(), sizeof(T), processor_count());
  for (const auto& candidate : kMethods<T>)
    if (candidate.name == method) return candidate.run(call);
  throw Error(ErrorCode::invalid_argument, "there is no selection method '" + std::string(method) + "'");
}

template void select_rows(const SelectCall<float>&, std::string_view);
template void select_rows(const SelectCall<double>&, std::string_view);

}  // namespace kith::KITH_BACKEND

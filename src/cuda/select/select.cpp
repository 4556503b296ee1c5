#include "cuda/select/select.hpp"

#include "cuda/runtime/properties.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::select {
namespace {

constexpr std::string_view kAutomatic = "auto";
// A method and the calls it is the fastest for: those that reach all of its limits.
struct Crossover {
  bool any_order;  // or only where the answer need not be sorted
  std::int64_t least_rows_a_processor;
  double least_share;  // of a row that is wanted
  std::int64_t least_k;
  std::string_view method;
};

// The first that fits is taken; the last fits always. Measured on an H200.
constexpr Crossover kCrossovers[] = {
    // Candidates of a threshold are sorted to be cut off at k, which pays only where they are few or the order is asked
    // for.
    {false, 1, 1.0 / 16, 2049, "radix-select"},
    {true, 0, 0, 0, "threshold-filter"},
};

template <class T>
struct Method {
  std::string_view name;
  void (*run)(const SelectCall<T>&);
};

#define KITH_ENTRY(function, name) {name, methods::function<T>},
template <class T>
constexpr Method<T> kMethods[] = {KITH_SELECT_METHODS(KITH_ENTRY)};
#undef KITH_ENTRY

}  // namespace

std::string_view choose_method(std::int64_t rows, std::int64_t length, std::int64_t k, TopkOutput form,
                               unsigned processors) {
  const bool sorted = form == TopkOutput::sorted || form == TopkOutput::values_only;
  const std::int64_t share = rows / processors;
  const auto fits = [&](const Crossover& entry) {
    return (entry.any_order || !sorted) && share >= entry.least_rows_a_processor && k >= entry.least_k &&
           static_cast<double>(k) >= entry.least_share * static_cast<double>(length);
  };
  const Crossover* entry = kCrossovers;
  while (!fits(*entry)) ++entry;
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
    method = choose_method(call.rows.rows, call.rows.length, call.k(), call.output.form, multiprocessor_count());
  for (const auto& candidate : kMethods<T>)
    if (candidate.name == method) return candidate.run(call);
  throw Error(ErrorCode::invalid_argument, "there is no selection method '" + std::string(method) + "'");
}

template void select_rows(const SelectCall<float>&, std::string_view);
template void select_rows(const SelectCall<double>&, std::string_view);

}  // namespace kith::KITH_BACKEND::select

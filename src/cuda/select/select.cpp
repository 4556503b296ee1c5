#include "cuda/select/select.hpp"

#include "cuda/runtime/properties.hpp"
#include "kith/error.hpp"

namespace kith::KITH_BACKEND::select {
namespace {

// A method and the calls it is the fastest for: those that reach all of its limits.
struct Crossover {
  bool any_order;  // or only where the answer need not be sorted
  std::int64_t least_rows_a_processor;
  double least_share;  // of a row that is wanted
  std::int64_t least_k;
  SelectMethod method;
};

// The first that fits is taken; the last fits always. Measured on an H200.
constexpr Crossover kCrossovers[] = {
    // Candidates of a threshold are sorted to be cut off at k, which pays only where they are few or the order is asked
    // for.
    {false, 1, 1.0 / 16, 2049, SelectMethod::radix_select},
    {true, 0, 0, 0, SelectMethod::threshold_filter},
};

template <class T>
struct Method {
  SelectMethod method;
  void (*run)(const SelectCall<T>&);
};

#define KITH_ENTRY(function) {SelectMethod::function, methods::function<T>},
template <class T>
constexpr Method<T> kMethods[] = {KITH_SELECT_METHODS(KITH_ENTRY)};
#undef KITH_ENTRY

}  // namespace

SelectMethod choose_method(std::int64_t rows, std::int64_t length, std::int64_t k, TopkOutput form,
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

std::vector<SelectMethod> select_methods() {
  std::vector<SelectMethod> all = {SelectMethod::automatic};
  for (const auto& entry : kMethods<float>) all.push_back(entry.method);
  return all;
}

template <class T>
void select_rows(const SelectCall<T>& call, SelectMethod method) {
  if (method == SelectMethod::automatic)
    method = choose_method(call.rows.rows, call.rows.length, call.k(), call.output.form, multiprocessor_count());
  for (const auto& entry : kMethods<T>)
    if (entry.method == method) return entry.run(call);
  throw Error(ErrorCode::invalid_argument, std::string("'") + to_string(method) + "' selects from no rows");
}

template void select_rows(const SelectCall<float>&, SelectMethod);
template void select_rows(const SelectCall<double>&, SelectMethod);

}  // namespace kith::KITH_BACKEND::select

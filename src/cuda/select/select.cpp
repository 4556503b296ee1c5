#include "cuda/select/select.hpp"

#include "cuda/runtime/properties.hpp"
#include "kith/error.hpp"
#include "plan/select.hpp"

namespace kith::KITH_BACKEND::select {
namespace {

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

std::vector<SelectMethod> select_methods() {
  std::vector<SelectMethod> all = {SelectMethod::automatic};
  for (const auto& entry : kMethods<float>) all.push_back(entry.method);
  return all;
}

template <class T>
void select_rows(const SelectCall<T>& call, SelectMethod method) {
  if (method == SelectMethod::automatic)
    method = plan::choose_select(call.rows.rows, call.rows.length, call.k(), call.output.form, device_policy());
  for (const auto& entry : kMethods<T>)
    if (entry.method == method) return entry.run(call);
  throw Error(ErrorCode::invalid_argument, std::string("'") + to_string(method) + "' selects from no rows");
}

template void select_rows(const SelectCall<float>&, SelectMethod);
template void select_rows(const SelectCall<double>&, SelectMethod);

}  // namespace kith::KITH_BACKEND::select

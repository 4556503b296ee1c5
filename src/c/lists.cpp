#include "c/lists.hpp"

#include <memory>

#include "c/arguments.hpp"
#include "c/call.hpp"
#include "c/handles.hpp"

namespace kith::c {
namespace {

using ListsObject = std::variant<Lists<float>, Lists<double>>;
using ListsTable = HandleTable<kith_lists, ListsObject>;

// Never destroyed, for threads may outlive static objects.
ListsTable& lists_table() {
  static ListsTable& lists = *new ListsTable("kith_lists");
  return lists;
}

}  // namespace

kith_lists* make_lists(ListsObject&& lists) {
  return lists_table().add(std::make_shared<ListsObject>(std::move(lists)));
}

}  // namespace kith::c

using namespace kith::c;

kith_status kith_lists_get(const kith_lists* lists, kith_list_arrays* out) noexcept {
  return call([&] {
    kith_list_arrays& arrays = need(out, "out");
    std::visit(
        [&]<class D>(const Lists<D>& of) {
          arrays = {static_cast<int64_t>(of.offsets.size()) - 1,
                    of.offsets.back(),
                    of.offsets.data(),
                    of.ids.empty() ? nullptr : of.ids.data(),
                    of.distances.empty() ? nullptr : of.distances.data(),
                    number_of(kith::dtype_of<D>())};
        },
        *lists_table().get(lists));
  });
}

kith_status kith_lists_destroy(kith_lists* lists) noexcept {
  return call([&] { lists_table().remove(lists); });
}

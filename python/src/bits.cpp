// A base of packed bits: kith::BitIndex, for arrays of bytes in host memory.
#include "kith/bits.hpp"

#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "array.hpp"
#include "bindings.hpp"
#include "kith/error.hpp"
#include "owned_array.hpp"
#include "watch.hpp"

namespace kith::python {
namespace {

// Rows of `bits` bits; the array has bytes enough for them.
BitsView bits_of(const Array& array, std::int64_t bits) {
  const MatrixView<std::uint8_t> bytes = array.view<std::uint8_t>();
  if (bytes.col_stride != 1 || bytes.cols < bit_bytes(bits))
    throw Error(ErrorCode::invalid_argument, "rows of " + std::to_string(bytes.cols) + " bytes for " +
                                                 std::to_string(bits) + " bits, which must lie one after the other");
  return {bytes.data, bytes.rows, bits, bytes.row_stride};
}

// Keeps the memory of the base. nanobind tells types by their names, so that it is not called Index again.
class PackedIndex {
 public:
  PackedIndex(nb::handle base, std::int64_t bits, const std::string& metric, const Options& options,
              nb::handle progress)
      : base_(base, false) {
    const BitMetric kind = parse_bit_metric(metric);
    index_ = watched(progress, [&] { return std::make_unique<const BitIndex>(bits_of(base_, bits), kind, options); });
  }

  // Of each row of the base, itself left out, where queries are None; the same below.
  BitReport search(nb::handle queries, std::int64_t k, nb::handle distances, nb::handle ids, nb::handle progress) {
    const OptionalArray rows(queries);
    const Array distances_out(distances, true);
    const Array ids_out(ids, true);
    return watched(progress, [&] {
      const std::int64_t count = rows.get() != nullptr ? rows.get()->rows() : index_->rows();
      const NeighborsView<float> out{ids_out.output<std::int64_t>(count * k), distances_out.output<float>(count * k)};
      if (rows.get() == nullptr) return index_->search_self_into(k, out);
      return index_->search_into(bits_of(*rows.get(), index_->bits()), k, out);
    });
  }

  // (report, distances, ids, offsets)
  nb::tuple search_radius(nb::handle queries, nb::handle radii, bool count_only, nb::handle progress) {
    const OptionalArray rows(queries);
    const Array radius_array(radii, false);
    BitRadiusNeighbors found = watched(progress, [&] {
      const std::span<const float> each(radius_array.output<float>(radius_array.rows()),
                                        static_cast<std::size_t>(radius_array.rows()));
      const RadiusOutput output = count_only ? RadiusOutput::count_only : RadiusOutput::neighbors;
      if (rows.get() == nullptr) return index_->search_radius_self(each, output);
      return index_->search_radius(bits_of(*rows.get(), index_->bits()), each, output);
    });
    return nb::make_tuple(std::move(found.report), owned_array(std::move(found.distances)),
                          owned_array(std::move(found.ids)), owned_array(std::move(found.offsets)));
  }

  BitPlan explain(std::int64_t queries, std::int64_t k) { return index_->explain(queries, k); }

 private:
  Array base_;
  std::unique_ptr<const BitIndex> index_;
};

std::string plan_text(const BitPlan& plan) {
  std::string text = to_string(plan);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

void bind_bits(nb::module_& module) {
  nb::class_<BitPlan>(module, "BitPlan", "What a search of packed bits will do, why, and what it should cost.")
      .def_prop_ro("metric", [](const BitPlan& plan) { return to_string(plan.metric); })
      .def_prop_ro("backend", [](const BitPlan& plan) { return to_string(plan.backend); })
      .def_ro("kernel", &BitPlan::kernel, "The instructions that count bits on the CPU, or the device.")
      .def_ro("max_distance", &BitPlan::max_distance)
      .def_ro("threads", &BitPlan::threads)
      .def_ro("threads_reason", &BitPlan::threads_reason, "Why so many.")
      .def_ro("query_block", &BitPlan::query_block)
      .def_ro("base_tile", &BitPlan::base_tile)
      .def_ro("base_splits", &BitPlan::base_splits)
      .def_ro("candidates", &BitPlan::candidates)
      .def_ro("workspace", &BitPlan::workspace_bytes, "Bytes beside inputs and outputs.")
      .def_ro("budget", &BitPlan::budget_bytes, "Bytes that were allowed.")
      .def_ro("seconds", &BitPlan::seconds, "Predicted.")
      .def_ro("reason", &BitPlan::reason)
      .def("__repr__", &plan_text)
      .def("__str__", &plan_text);

  nb::class_<BitReport>(module, "BitReport", "What a search of packed bits did, beside its answer.")
      .def_ro("plan", &BitReport::plan)
      .def_ro("seconds", &BitReport::seconds)
      .def_ro("candidates", &BitReport::candidates, "Pairs that counts alone did not rule out.")
      .def("__repr__", [](const BitReport& report) {
        return plan_text(report.plan) + "\ntook      " + std::to_string(report.seconds * 1e3) + " ms";
      });

  nb::class_<PackedIndex>(module, "BitIndex")
      .def(nb::init<nb::handle, std::int64_t, const std::string&, const Options&, nb::handle>(), nb::arg("base"),
           nb::arg("bits"), nb::arg("metric"), nb::arg("options"), nb::arg("progress").none())
      .def("search", &PackedIndex::search, nb::arg("queries").none(), nb::arg("k"), nb::arg("distances"),
           nb::arg("ids"), nb::arg("progress").none())
      .def("search_radius", &PackedIndex::search_radius, nb::arg("queries").none(), nb::arg("radii"),
           nb::arg("count_only"), nb::arg("progress").none())
      .def("explain", &PackedIndex::explain, nb::arg("queries"), nb::arg("k"));

  module.def("bit_metric", [](const std::string& name) { return to_string(parse_bit_metric(name)); });
}

}  // namespace kith::python

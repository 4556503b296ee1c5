// pivots.cpp: kith_pivot_index: objects that only the caller knows, under distances that only the caller can compute.
#include "kith/pivots.hpp"

#include <memory>
#include <utility>

#include "c/answers.hpp"
#include "c/arguments.hpp"
#include "c/call.hpp"
#include "c/callbacks.hpp"
#include "c/handles.hpp"
#include "c/lists.hpp"
#include "c/options.hpp"

namespace kith::c {
namespace {

struct PivotObject {
  CallbackSource base;
  PivotTable table;

  PivotObject(const kith_objects* objects, const AllOptions& options)
      : base(objects, "base"),
        table(base, base.count(), options.pivots.distance,
              {options.pivots.count, options.pivots.choice, options.threads, options.progress}) {}
};

using PivotHandles = HandleTable<kith_pivot_index, const PivotObject>;

// Never destroyed, for threads may outlive static objects.
PivotHandles& pivot_handles() {
  static PivotHandles& indexes = *new PivotHandles("kith_pivot_index");
  return indexes;
}

// `work(index)` of the index, which stays until it returns.
template <class Work>
kith_status with_pivots(const kith_pivot_index* index, Work work) noexcept {
  return call([&] {
    const auto object = pivot_handles().get(index);
    work(*object);
  });
}

void write_report(const PivotReport& report, kith_pivot_report* out) {
  if (out != nullptr)
    *out = {report.objects,     report.queries,           report.pairs,        report.pivots,  report.build_evaluations,
            report.evaluations, report.pivot_evaluations, report.lower_bounds, report.threads, report.seconds};
}

}  // namespace
}  // namespace kith::c

using namespace kith::c;

kith_status kith_pivot_index_create(const kith_objects* base, const kith_options* options,
                                    kith_pivot_index** out) noexcept {
  return call([&] {
    need(out, "out");
    *out = pivot_handles().add(std::make_shared<const PivotObject>(base, all_options_of(options)));
  });
}

kith_status kith_pivot_index_destroy(kith_pivot_index* index) noexcept {
  return call([&] { pivot_handles().remove(index); });
}

kith_status kith_pivot_index_shape(const kith_pivot_index* index, int64_t* objects, int64_t* pivots,
                                   int64_t* build_evaluations) noexcept {
  return with_pivots(index, [&](const PivotObject& of) {
    if (objects != nullptr) *objects = of.table.objects();
    if (pivots != nullptr) *pivots = static_cast<int64_t>(of.table.pivots().size());
    if (build_evaluations != nullptr) *build_evaluations = of.table.build_evaluations();
  });
}

kith_status kith_pivot_index_search(const kith_pivot_index* index, const kith_objects* queries, int64_t k,
                                    const kith_neighbors* out, kith_pivot_report* report) noexcept {
  return with_pivots(index, [&](const PivotObject& of) {
    const CallbackSource source(queries, "queries");
    const auto place = host_room<double>(out, source.count(), k);
    const kith::PivotNeighbors found = of.table.search(source, source.count(), k);
    copy_neighbors(found, place);
    write_report(found.report, report);
  });
}

kith_status kith_pivot_index_search_self(const kith_pivot_index* index, int64_t k, const kith_neighbors* out,
                                         kith_pivot_report* report) noexcept {
  return with_pivots(index, [&](const PivotObject& of) {
    const auto place = host_room<double>(out, of.table.objects(), k);
    const kith::PivotNeighbors found = of.table.search_self(of.base, k);
    copy_neighbors(found, place);
    write_report(found.report, report);
  });
}

kith_status kith_pivot_index_search_radius(const kith_pivot_index* index, const kith_objects* queries,
                                           const double* radii, int64_t radius_count, kith_lists** out,
                                           kith_pivot_report* report) noexcept {
  return with_pivots(index, [&](const PivotObject& of) {
    need(out, "out");
    const CallbackSource source(queries, "queries");
    auto found = of.table.search_radius(source, source.count(), span_of(radii, radius_count, "radii"));
    const kith::PivotReport done = found.report;
    *out = make_lists(Lists<double>(std::move(found)));
    write_report(done, report);
  });
}

kith_status kith_pivot_index_search_radius_self(const kith_pivot_index* index, const double* radii,
                                                int64_t radius_count, kith_lists** out,
                                                kith_pivot_report* report) noexcept {
  return with_pivots(index, [&](const PivotObject& of) {
    need(out, "out");
    auto found = of.table.search_radius_self(of.base, span_of(radii, radius_count, "radii"));
    const kith::PivotReport done = found.report;
    *out = make_lists(Lists<double>(std::move(found)));
    write_report(done, report);
  });
}

// pivot_table.cpp: the compiled side of PivotIndex: checks arguments, shares queries among threads, puts answers
// together.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>
#include <variant>

#include "api/guard.hpp"
#include "api/validate.hpp"
#include "cpu/facts.hpp"
#include "cpu/parallel.hpp"
#include "cpu/progress.hpp"
#include "kith/pivots.hpp"
#include "pivots/arguments.hpp"
#include "pivots/query_search.hpp"
#include "pivots/table.hpp"

namespace kith {

struct PivotTable::State {
  pivots::Table table;
};

namespace {

using pivots::Counts;
using pivots::Hit;
using pivots::Hits;
using pivots::QuerySearch;
using pivots::Table;

// Queries and what they search for.
struct Request {
  const PairSource& source;
  std::int64_t queries;
  bool self;
  std::int64_t k;                 // the number of objects for searches by radius
  std::span<const double> radii;  // none, one for all, or one for each

  double radius(std::int64_t query) const {
    if (radii.empty()) return pivots::kInfinity;
    return radii[radii.size() == 1 ? 0 : static_cast<std::size_t>(query)];
  }
};

PivotReport empty_report(const Table& table, const Request& request) {
  PivotReport report;
  report.objects = table.objects;
  report.queries = request.queries;
  report.pairs = request.queries * (table.objects - (request.self ? 1 : 0));
  report.pivots = std::ssize(table.pivots);
  report.build_evaluations = table.build_evaluations;
  return report;
}

// Calls give(query, its hits) for each query, on any thread.
template <class Cell, class Give>
PivotReport search_all(const Table& table, const Request& request, Give give) {
  const auto start = std::chrono::steady_clock::now();
  PivotReport report = empty_report(table, request);
  const double seconds = static_cast<double>(report.pairs) * pivots::kSecondsEach;
  report.threads = cpu::threads_for(table.options.threads, seconds);
  cpu::ProgressMeter meter(table.options.progress, request.queries * table.objects);
  std::vector<std::unique_ptr<QuerySearch<Cell>>> workers(static_cast<std::size_t>(report.threads));
  cpu::parallel_for(report.threads, request.queries, [&](std::int64_t query, int worker) {
    auto& mine = workers[static_cast<std::size_t>(worker)];
    if (!mine) mine = std::make_unique<QuerySearch<Cell>>(table, request.source, request.self, meter, worker);
    Hits hits(request.k, request.radius(query), table.properties.integer_valued);
    mine->run(query, request.radii.empty() ? request.k : 0, hits);
    give(query, hits.take());
    meter.add(table.objects, worker);
  });
  meter.finish();
  for (const auto& worker : workers) {
    if (!worker) continue;
    const Counts& counts = worker->counts();
    report.evaluations += counts.evaluations;
    report.pivot_evaluations += counts.pivot_evaluations;
    report.lower_bounds += counts.lower_bounds;
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

template <class Give>
PivotReport search_all(const Table& table, const Request& request, Give give) {
  return std::visit([&]<class Cell>(const pivots::Columns<Cell>&) { return search_all<Cell>(table, request, give); },
                    table.columns);
}

void check_queries(std::int64_t queries, std::int64_t objects, std::int64_t k) {
  if (queries < 0) throw Error(ErrorCode::invalid_argument, fmt::format("{} queries; 0 or more are needed", queries));
  api::check_sizes(queries, objects, k);
}

PivotNeighbors nearest(const Table& table, const PairSource& source, std::int64_t queries, std::int64_t k, bool self) {
  api::check_k(k, table.objects - (self ? 1 : 0), self ? "the number of other objects is" : "the number of objects is");
  check_queries(queries, table.objects, k);
  api::check_output(queries, k, sizeof(std::int64_t) + sizeof(double));
  PivotNeighbors found;
  found.queries = queries;
  found.k = k;
  found.ids.resize(static_cast<std::size_t>(queries * k));
  found.distances.resize(found.ids.size());
  found.report =
      search_all(table, {source, queries, self, k, {}}, [&](std::int64_t query, const std::vector<Hit>& hits) {
        auto at = static_cast<std::size_t>(query * k);
        for (const Hit& hit : hits) {
          found.ids[at] = hit.id;
          found.distances[at++] = hit.distance;
        }
      });
  return found;
}

PivotRadiusNeighbors within(const Table& table, const PairSource& source, std::int64_t queries,
                            std::span<const double> radii, bool self) {
  check_queries(queries, table.objects, 1);
  pivots::check_radii(radii, queries);
  std::vector<std::vector<Hit>> rows(static_cast<std::size_t>(queries));
  PivotRadiusNeighbors found;
  found.queries = queries;
  found.report = search_all(
      table, {source, queries, self, table.objects, radii},
      [&](std::int64_t query, std::vector<Hit> hits) { rows[static_cast<std::size_t>(query)] = std::move(hits); });
  found.offsets.push_back(0);
  for (std::vector<Hit>& row : rows) {
    for (const Hit& hit : row) {
      found.ids.push_back(hit.id);
      found.distances.push_back(hit.distance);
    }
    found.offsets.push_back(std::ssize(found.ids));
    row = {};
  }
  return found;
}

}  // namespace

PivotTable::PivotTable(const PairSource& base, std::int64_t objects, const DistanceProperties& properties,
                       const PivotOptions& options)
    : state_(api::guarded([&] {
        pivots::check_table(objects, properties, options);
        // While it is made a cell takes 8 bytes.
        api::check_output(objects, pivots::pivots_of(objects, properties, options), sizeof(double));
        return std::make_unique<State>(State{pivots::make_table(base, objects, properties, options)});
      })) {}

PivotTable::~PivotTable() = default;
PivotTable::PivotTable(PivotTable&& other) noexcept = default;
PivotTable& PivotTable::operator=(PivotTable&& other) noexcept = default;

PivotNeighbors PivotTable::search(const PairSource& source, std::int64_t queries, std::int64_t k) const {
  return api::guarded([&] { return nearest(state_->table, source, queries, k, false); });
}

PivotNeighbors PivotTable::search_self(const PairSource& base, std::int64_t k) const {
  return api::guarded([&] { return nearest(state_->table, base, objects(), k, true); });
}

PivotRadiusNeighbors PivotTable::search_radius(const PairSource& source, std::int64_t queries,
                                               std::span<const double> radii) const {
  return api::guarded([&] { return within(state_->table, source, queries, radii, false); });
}

PivotRadiusNeighbors PivotTable::search_radius_self(const PairSource& base, std::span<const double> radii) const {
  return api::guarded([&] { return within(state_->table, base, objects(), radii, true); });
}

std::int64_t PivotTable::objects() const {
  return state_->table.objects;
}

std::span<const std::int64_t> PivotTable::pivots() const {
  return state_->table.pivots;
}

std::int64_t PivotTable::build_evaluations() const {
  return state_->table.build_evaluations;
}

}  // namespace kith

// filter.cpp: searches among some of the points of a collection, beside the same search among all of them. Points,
// queries, masks and answers are the host's; times are by its clock. The mask is made before, as a user has it.
#include <fmt/format.h>

#include <algorithm>

#include "common/check.hpp"
#include "common/parallel.hpp"
#include "common/random_bits.hpp"
#include "device/search/host_points.hpp"
#include "device/search/problem.hpp"
#include "kith/collection.hpp"

namespace kith::bench::device::search {
namespace {

constexpr double kAllowed[] = {1e-6, 1e-4, 1e-2, 0.1, 0.5, 0.9, 1};
constexpr double kFewest = 1e-4;

// Of the time of the same search among all points.
constexpr double kFilterBound = 1.3;
constexpr double kFewestBound = 0.1;

struct FilterProblem {
  std::int64_t queries = 1000;
  std::int64_t base_rows = 1000000;
  std::int64_t dims = 128;
  std::int64_t k = 10;
};

std::string problem_text(const FilterProblem& problem) {
  return fmt::format("{} × {} × {}, k {}", problem.queries, problem.base_rows, problem.dims, problem.k);
}

// A mask, the points that it leaves, and what was found.
struct FilteredSearch {
  double share = 1;
  std::vector<std::uint64_t> words;
  std::vector<std::int64_t> ids;
  Neighbors<float> found;
  Neighbors<float> first;
};

class FilterRun {
 public:
  FilterRun(const FilterProblem& problem, Harness& harness)
      : problem_(problem),
        harness_(harness),
        points_((problem.base_rows + problem.queries) * problem.dims * 4 + 4096),
        base_(points_.rows(0, problem.base_rows, problem.dims)),
        queries_(points_.rows(problem.base_rows, problem.queries, problem.dims)),
        collection_(base_, {}, options()) {}

  std::vector<Row> rows() {
    std::vector<Contender> contenders = {unfiltered()};
    searches_.resize(std::size(kAllowed));
    for (std::size_t i = 0; i < searches_.size(); ++i) contenders.push_back(filtered(kAllowed[i], searches_[i]));
    std::vector<Row> rows = harness_.race(std::move(contenders), {.on_host_clock = true});
    for (std::size_t i = 0; i < searches_.size(); ++i) conclude(rows[0], searches_[i], rows[i + 1]);
    return rows;
  }

 private:
  static Options options() {
    Options options;
    options.metric = kL2;
    options.backend = kBackend;
    return options;
  }

  Contender contender(std::string name) {
    Contender contender;
    contender.row.problem = problem_text(problem_);
    contender.row.contender = std::move(name);
    contender.row.facts = {
        {"queries", problem_.queries}, {"base_rows", problem_.base_rows}, {"dims", problem_.dims}, {"k", problem_.k}};
    return contender;
  }

  Contender unfiltered() {
    Contender made = contender("all points");
    made.run = [this] { all_ = collection_.search(queries_, problem_.k); };
    made.check = [this](bool first) -> std::string { return first ? fault(base_, {}, all_) : ""; };
    return made;
  }

  Contender filtered(double share, FilteredSearch& search) {
    search.share = share;
    search.words.resize(static_cast<std::size_t>((problem_.base_rows + 63) / 64));
    for (std::int64_t row = 0; row < problem_.base_rows; ++row) {
      constexpr double kOne = 18446744073709551616.0;  // 2^64
      if (static_cast<double>(random_bits(static_cast<std::uint64_t>(row))) >= share * kOne) continue;
      search.words[static_cast<std::size_t>(row / 64)] |= std::uint64_t{1} << (row % 64);
      search.ids.push_back(row);
    }
    Contender made = contender(fmt::format("{:g} allowed", share));
    made.prepare = [&search] { search.found = {}; };
    made.run = [this, &search] {
      Filter filter;
      filter.mask = FilterMask{.words = search.words};
      search.found = collection_.search(queries_, problem_.k, filter);
    };
    made.check = [this, &search](bool first) -> std::string {
      if (!first)
        return search.found.ids == search.first.ids && search.found.distances == search.first.distances
                   ? ""
                   : "another answer than in the first run";
      search.first = search.found;
      Matrix<float> left(static_cast<std::int64_t>(search.ids.size()), problem_.dims);
      for (std::int64_t i = 0; i < left.rows(); ++i)
        std::copy_n(base_.row(search.ids[static_cast<std::size_t>(i)]), problem_.dims, left.row(i));
      return fault(left.view(), search.ids, search.found);
    };
    return made;
  }

  // Of a sample of the queries: the nearest of the points that are left, missing ones at the end. No ids: all points.
  std::string fault(const MatrixView<float>& left, const std::vector<std::int64_t>& ids,
                    const Neighbors<float>& found) const {
    const std::int64_t some = std::min(harness_.limits().samples, problem_.queries);
    for (std::int64_t i = 0; i < some; ++i) {
      const std::int64_t query = i * (problem_.queries / some);
      Question<float> question{left, queries_.rows_from(query, 1), std::min(problem_.k, left.rows)};
      question.threads = all_threads();
      const auto right = left.rows == 0 ? std::vector<Neighbor>() : Oracle<float>(question, kL2).truth().front();
      for (std::int64_t n = 0; n < problem_.k; ++n) {
        const auto at = static_cast<std::size_t>(n);
        const bool is_there = at < right.size();
        const std::int64_t id = !is_there     ? -1
                                : ids.empty() ? right[at].id
                                              : ids[static_cast<std::size_t>(right[at].id)];
        if (found.ids_of(query)[at] != id) return fmt::format("query {}: neighbor {} is not {}", query, n, id);
        if (is_there && found.distances_of(query)[at] != static_cast<float>(right[at].key))
          return fmt::format("query {}: the distance of neighbor {} is wrong", query, n);
      }
    }
    return "";
  }

  void conclude(const Row& all, const FilteredSearch& search, Row& row) const {
    if (!row.timed() || !all.timed()) return;
    const FilterReport& report = *search.found.report.filter;
    const double ratio = row.median_ms() / all.median_ms();
    const char* const way = report.gathered > 0   ? "copies"
                            : report.narrowed > 0 ? "masked"
                            : report.tested > 0   ? "tests"
                                                  : "all points";
    row.facts["allowed"] = search.ids.size();
    row.facts["way"] = way;
    row.facts["of_all"] = ratio;
    row.note = fmt::format("{}, {:.3f} of all points", way, ratio);
    if (harness_.quick()) return;
    const double bound = search.share <= kFewest ? kFewestBound : kFilterBound;
    row.bar = Bar{fmt::format("≤ {:g} of all points", bound), fmt::format("{:.3f}", ratio), ratio <= bound};
  }

  FilterProblem problem_;
  Harness& harness_;
  HostPoints points_;
  MatrixView<float> base_;
  MatrixView<float> queries_;
  Collection<float> collection_;
  Neighbors<float> all_;
  std::vector<FilteredSearch> searches_;
};

}  // namespace

Suite filter_suite(const Settings& settings) {
  Suite suite{"search/filter", "searches among some of the points of the host", "", {.samples = 4}, nullptr, {}};
  FilterProblem problem;
  if (settings.quick) problem = {20, 600, 32, 10};
  suite.cases.push_back({"", problem_text(problem), "all points, and masks that leave some",
                         [problem](Harness& harness) { return FilterRun(problem, harness).rows(); }});
  return suite;
}

}  // namespace kith::bench::device::search

#include "search_device/figure.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kith::search_bench {
namespace {

struct Rates {
  double fma = 0;   // 10¹² a second
  double read = 0;  // TB/s
};

double ceiling_of(const Tile& tile, bool writes_scores, const Rates& rates) {
  const auto dims = static_cast<double>(tile.dims);
  const double values = static_cast<double>(tile.queries + tile.points) * dims + (writes_scores ? tile.pairs() : 0.0);
  const double seconds = std::max(tile.pairs() * dims / rates.fma, values * sizeof(float) / rates.read) * 1e-12;
  return tile.pairs() / seconds * 1e-9;
}

class Maker {
 public:
  explicit Maker(const Rates& rates) : rates_(rates) {}

  void add(const std::string& name, const std::string& shape, const Tile& tile, bool writes_scores,
           const std::string& contender, double ms) {
    Figure& figure = figure_of(name);
    if (std::find(figure.contenders.begin(), figure.contenders.end(), contender) == figure.contenders.end())
      figure.contenders.push_back(contender);
    if (figure.rows.empty() || figure.rows.back().shape != shape)
      figure.rows.push_back({shape, ceiling_of(tile, writes_scores, rates_), {}});
    if (ms > 0) figure.rows.back().values[contender] = tile.pairs() / ms * 1e-6;
  }

  std::vector<Figure> take() { return std::move(figures_); }

 private:
  Figure& figure_of(const std::string& name) {
    for (Figure& figure : figures_)
      if (figure.name == name) return figure;
    return figures_.emplace_back(Figure{name, {}, {}});
  }

  Rates rates_;
  std::vector<Figure> figures_;
};

}  // namespace

std::vector<Figure> make_figures(const std::vector<Measurement>& searches, const std::vector<StageMeasurement>& stages,
                                 const std::vector<CeilingResult>& ceilings) {
  Maker maker({best_rate(ceilings, "fma"), best_rate(ceilings, "read")});
  for (const StageMeasurement& one : stages)
    if (!one.figure.empty()) maker.add(one.figure, describe(one.tile), one.tile, true, one.stage, one.median_ms());
  for (const Measurement& one : searches) {
    const Problem& problem = one.problem;
    if (one.figure.empty()) continue;
    maker.add(one.figure, describe(problem), {problem.queries, problem.base_rows, problem.dims}, false, one.contender,
              one.status == Status::timed ? one.median_ms() : 0);
  }
  return maker.take();
}

std::string to_string(const Figure& figure) {
  std::string text = fmt::format("figure {}, 10⁹ distances/s\n{:<44}", figure.name, "");
  const auto width = [](const std::string& contender) { return std::max<std::size_t>(contender.size(), 10); };
  for (const std::string& contender : figure.contenders) text += fmt::format("  {:>{}}", contender, width(contender));
  text += fmt::format("  {:>10}\n", "ceiling");
  for (const FigureRow& row : figure.rows) {
    text += fmt::format("{:<44}", row.shape);
    for (const std::string& contender : figure.contenders) {
      const auto value = row.values.find(contender);
      const std::string shown = value == row.values.end() ? "–" : fmt::format("{:.4g}", value->second);
      text += fmt::format("  {:>{}}", shown, width(contender));
    }
    text += fmt::format("  {:10.4g}\n", row.ceiling);
  }
  return text;
}

}  // namespace kith::search_bench

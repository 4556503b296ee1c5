#include "random_formula.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace kith::test {
namespace {

std::string blank(Random& random) {
  return random.below(3) == 0 ? " " : "";
}

double least(double a, double b) {
  return a < b || std::isnan(a) ? a : b;
}
double greatest(double a, double b) {
  return a > b || std::isnan(a) ? a : b;
}

Formula number(Random& random) {
  const double value = static_cast<double>(random.below(40)) / 8;
  std::string text = std::to_string(value);
  return {std::move(text), [value](const Row&, const Row&, std::size_t) { return value; }};
}

Formula part(Random& random, int depth, bool by_coordinate);

Formula of_two(Random& random, int depth, bool by_coordinate) {
  const Formula a = part(random, depth - 1, by_coordinate);
  const Formula b = part(random, depth - 1, by_coordinate);
  const auto made = [&](const std::string& sign, double (*operation)(double, double)) {
    return Formula{"(" + a.text + blank(random) + sign + blank(random) + b.text + ")",
                   [a, b, operation](const Row& x, const Row& y, std::size_t c) {
                     return operation(a.value(x, y, c), b.value(x, y, c));
                   }};
  };
  switch (random.below(12)) {
    case 0:
    case 1: return made("+", [](double u, double v) { return u + v; });
    case 2:
    case 3: return made("-", [](double u, double v) { return u - v; });
    case 4:
    case 5: return made("*", [](double u, double v) { return u * v; });
    case 6: return made("/", [](double u, double v) { return u / v; });
    case 7: return made("<", [](double u, double v) { return u < v ? 1.0 : 0.0; });
    case 8: return made(">=", [](double u, double v) { return u >= v ? 1.0 : 0.0; });
    case 9: return made("!=", [](double u, double v) { return u != v ? 1.0 : 0.0; });
    case 10: {
      Formula formula = made(",", least);
      formula.text = "min" + formula.text;
      return formula;
    }
    default: {
      Formula formula = made(",", greatest);
      formula.text = "max" + formula.text;
      return formula;
    }
  }
}

Formula of_one(Random& random, int depth, bool by_coordinate) {
  const Formula a = part(random, depth - 1, by_coordinate);
  const auto made = [&](const std::string& before, const std::string& after, double (*operation)(double)) {
    return Formula{before + a.text + after,
                   [a, operation](const Row& x, const Row& y, std::size_t c) { return operation(a.value(x, y, c)); }};
  };
  switch (random.below(9)) {
    case 0: return made("abs(", ")", [](double v) { return std::abs(v); });
    case 1: return made("sqrt(abs(", "))", [](double v) { return std::sqrt(std::abs(v)); });
    case 2: return made("exp(-abs(", "))", [](double v) { return std::exp(-std::abs(v)); });
    case 3: return made("log(1 + abs(", "))", [](double v) { return std::log(1 + std::abs(v)); });
    case 4: return made("sin(", ")", [](double v) { return std::sin(v); });
    case 5: return made("(-", ")", [](double v) { return -v; });
    case 6: return made("(", ")^2", [](double v) { return v * v; });
    case 7: return made("pow(", ", 3)", [](double v) { return v * v * v; });
    default: return made("(", ") ** 1.5", [](double v) { return std::pow(v, 1.5); });
  }
}

// What all coordinates come to, evaluated in their order.
Formula aggregation(Random& random, int depth) {
  const Formula a = part(random, depth - 1, true);
  const auto made = [&](const std::string& name, double first, double (*operation)(double, double), bool is_mean) {
    return Formula{name + "(" + a.text + ")", [a, first, operation, is_mean](const Row& x, const Row& y, std::size_t) {
                     double total = first;
                     for (std::size_t c = 0; c < x.size(); ++c) total = operation(total, a.value(x, y, c));
                     return is_mean ? total / static_cast<double>(x.size()) : total;
                   }};
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto add = [](double u, double v) { return u + v; };
  switch (random.below(6)) {
    case 0: return made("mean", 0, add, true);
    case 1:
      return made(
          "prod", 1, [](double u, double v) { return u * v; }, false);
    case 2: return made("min", kInfinity, least, false);
    case 3: return made("max", -kInfinity, greatest, false);
    default: return made("sum", 0, add, false);
  }
}

Formula leaf(Random& random, bool by_coordinate) {
  if (!by_coordinate || random.below(5) == 0) {
    if (random.below(4) != 0) return number(random);
    return {"n", [](const Row& x, const Row&, std::size_t) { return static_cast<double>(x.size()); }};
  }
  switch (random.below(5)) {
    case 0: return {"i", [](const Row&, const Row&, std::size_t c) { return static_cast<double>(c); }};
    case 1:
    case 2: return {"x", [](const Row& x, const Row&, std::size_t c) { return x[c]; }};
    default: return {"y", [](const Row&, const Row& y, std::size_t c) { return y[c]; }};
  }
}

Formula part(Random& random, int depth, bool by_coordinate) {
  if (depth <= 0) return leaf(random, by_coordinate);
  const std::int64_t kind = random.below(10);
  if (kind < 5) return of_two(random, depth, by_coordinate);
  if (kind < 7) return of_one(random, depth, by_coordinate);
  if (kind == 7) return leaf(random, by_coordinate);
  if (kind == 8 && by_coordinate && depth < 3) return of_two(random, depth, by_coordinate);
  if (kind == 9) {
    const Formula a = part(random, depth - 1, by_coordinate);
    const Formula b = part(random, depth - 1, by_coordinate);
    const Formula c = part(random, depth - 1, by_coordinate);
    return {"select(" + a.text + "," + b.text + ", " + c.text + ")",
            [a, b, c](const Row& x, const Row& y, std::size_t at) {
              return a.value(x, y, at) != 0 ? b.value(x, y, at) : c.value(x, y, at);
            }};
  }
  return aggregation(random, depth);
}

}  // namespace

Formula random_formula(Random& random, int depth) {
  const Formula first = aggregation(random, depth);
  const Formula rest = part(random, depth, false);
  return {first.text + " + " + rest.text, [first, rest](const Row& x, const Row& y, std::size_t c) {
            return first.value(x, y, c) + rest.value(x, y, c);
          }};
}

}  // namespace kith::test

// support.hpp: small problems and contenders that do as they are told.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cpu/contenders/contenders.hpp"
#include "cpu/problem/contender.hpp"
#include "cpu/problem/data.hpp"
#include "kith/index.hpp"

namespace kith::bench {

inline RowSpec small_row(Metric metric = MetricKind::sqeuclidean) {
  RowSpec row;
  row.name = "small";
  row.queries = 12;
  row.base_rows = 200;
  row.dims = 5;
  row.k = 7;
  row.metric = metric;
  return row;
}

template <Element T>
Answer library_answer(const Problem<T>& problem) {
  Options options;
  options.metric = problem.row.metric;
  const Index<T> index(problem.base.view(), options);
  const auto found =
      problem.row.self ? index.search_self(problem.row.k) : index.search(problem.queries().view(), problem.row.k);
  return {found.queries, found.k, found.ids, {found.distances.begin(), found.distances.end()}};
}

// Calls `act` with the number of the run, then has the answer it returned.
class Puppet final : public Contender {
 public:
  explicit Puppet(std::function<Answer(int)> act) : act_(std::move(act)) {}

  void run() override { answer_ = act_(runs_++); }
  Answer answer() const override { return answer_; }
  std::string fault() const override { return fault_; }

  void find_fault(std::string fault) { fault_ = std::move(fault); }

 private:
  std::function<Answer(int)> act_;
  Answer answer_;
  std::string fault_;
  int runs_ = 0;
};

inline Entry entry_of(Kind kind, std::function<Answer(int)> act) {
  Entry entry;
  entry.kind = kind;
  entry.name = name_of(kind, DType::float32);
  entry.contender = std::make_unique<Puppet>(std::move(act));
  return entry;
}

}  // namespace kith::bench

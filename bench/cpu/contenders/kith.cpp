// kith.cpp: the library itself, through its public interface.
#include <algorithm>
#include <cstddef>
#include <optional>

#include "cpu/contenders/contenders.hpp"
#include "kith/kith.hpp"

namespace kith::bench {
namespace {

Options options_for(Metric metric, int threads) {
  Options options;
  options.metric = metric;
  options.backend = Backend::cpu;
  options.threads = threads;
  return options;
}

template <class D>
Answer as_answer(std::int64_t queries, std::int64_t k, const std::vector<std::int64_t>& ids,
                 const std::vector<D>& distances) {
  return {queries, k, ids, {distances.begin(), distances.end()}};
}

std::string describe_plan(const Plan& plan) {
  if (plan.method != Method::brute) return to_string(plan.method);
  return std::string(to_string(plan.distance)) + " + " + to_string(plan.select);
}

// On an index that is ready, or, for what is to be timed as a whole, on one that every run makes.
template <Element T>
class KithSearch final : public Contender {
 public:
  KithSearch(const Problem<T>& problem, const Options& options, bool whole)
      : problem_(problem), options_(options), whole_(whole) {
    if (!whole) index_.emplace(problem.base.view(), options);
  }

  void run() override {
    const std::int64_t k = problem_.row.k;
    std::optional<Index<T>> made;
    if (whole_) made.emplace(problem_.base.view(), options_);
    const Index<T>& index = whole_ ? *made : *index_;
    found_ = problem_.row.self ? index.search_self(k) : index.search(problem_.own_queries.view(), k);
  }
  void clear() override { found_ = {}; }
  Answer answer() const override { return as_answer(found_.queries, found_.k, found_.ids, found_.distances); }
  Metric metric() const override { return options_.metric; }
  std::string note() const override { return describe_plan(found_.report.plan); }

 private:
  const Problem<T>& problem_;
  Options options_;
  bool whole_;
  std::optional<Index<T>> index_;
  Neighbors<DistanceOf<T>> found_;
};

// Points of fewer bits whose index and queries are float32; the conversion is not timed.
template <Element T>
class KithFloat32 final : public Contender {
 public:
  explicit KithFloat32(const Problem<T>& problem)
      : row_(problem.row),
        base_(converted(problem.base)),
        queries_(converted(problem.own_queries)),
        index_(base_.view(), options_for(row_.metric, problem.threads)) {}

  void run() override { found_ = row_.self ? index_.search_self(row_.k) : index_.search(queries_.view(), row_.k); }
  void clear() override { found_ = {}; }
  Answer answer() const override { return as_answer(found_.queries, found_.k, found_.ids, found_.distances); }
  Metric metric() const override { return row_.metric; }
  std::string note() const override { return describe_plan(found_.report.plan); }

 private:
  static Matrix<float> converted(const Matrix<T>& points) {
    Matrix<float> floats(points.rows(), points.cols());
    std::copy_n(points.data(), points.rows() * points.cols(), floats.data());
    return floats;
  }

  RowSpec row_;
  Matrix<float> base_;
  Matrix<float> queries_;
  Index<float> index_;
  Neighbors<float> found_;
};

// Queries as they come, one in each call, on an index that is ready; the planner has all it may choose.
template <Element T>
class KithOneByOne final : public Contender {
 public:
  explicit KithOneByOne(const Problem<T>& problem)
      : problem_(problem), index_(problem.base.view(), options_for(problem.row.metric, 0)) {
    index_.search(problem.queries().view(), problem.row.k);  // many queries, for which the planner makes what pays
  }

  void run() override {
    const std::int64_t k = problem_.row.k;
    const MatrixView<T> queries = problem_.queries().view();
    ids_.resize(static_cast<std::size_t>(queries.rows * k));
    distances_.resize(ids_.size());
    for (std::int64_t q = 0; q < queries.rows; ++q)
      report_ = index_.search_into(queries.rows_from(q, 1), k, {ids_.data() + q * k, distances_.data() + q * k});
  }
  void clear() override {
    ids_ = {};
    distances_ = {};
  }
  Answer answer() const override { return as_answer(problem_.queries().rows(), problem_.row.k, ids_, distances_); }
  Metric metric() const override { return problem_.row.metric; }
  std::string note() const override { return describe_plan(report_.plan); }

 private:
  const Problem<T>& problem_;
  Index<T> index_;
  std::vector<std::int64_t> ids_;
  std::vector<DistanceOf<T>> distances_;
  SearchReport report_;
};

template <Element T>
class KithGraph final : public Contender {
 public:
  explicit KithGraph(const Problem<T>& problem) : problem_(problem) {}

  void run() override {
    graph_ = graph(problem_.base.view(), problem_.row.k, Symmetrize::none,
                   options_for(problem_.row.metric, problem_.threads));
  }
  void clear() override { graph_ = {}; }
  // Rows of a directed graph are full and sorted: a packed matrix.
  Answer answer() const override { return as_answer(graph_.points, problem_.row.k, graph_.indices, graph_.data); }
  Metric metric() const override { return problem_.row.metric; }
  std::string note() const override { return describe_plan(graph_.report.plan); }

 private:
  const Problem<T>& problem_;
  Graph<DistanceOf<T>> graph_;
};

}  // namespace

template <Element T>
std::unique_ptr<Contender> make_kith(const Problem<T>& problem, Metric metric) {
  return std::make_unique<KithSearch<T>>(problem, options_for(metric, problem.threads), false);
}

template <Element T>
std::unique_ptr<Contender> make_kith_float32(const Problem<T>& problem) {
  return std::make_unique<KithFloat32<T>>(problem);
}

template <Element T>
std::unique_ptr<Contender> make_kith_one_by_one(const Problem<T>& problem) {
  return std::make_unique<KithOneByOne<T>>(problem);
}

template <Element T>
std::unique_ptr<Contender> make_kith_graph(const Problem<T>& problem) {
  return std::make_unique<KithGraph<T>>(problem);
}

template <Element T>
std::unique_ptr<Contender> make_kith_whole(const Problem<T>& problem, Method method) {
  Options options = options_for(problem.row.metric, problem.threads);
  options.method = method;
  return std::make_unique<KithSearch<T>>(problem, options, true);
}

template std::unique_ptr<Contender> make_kith(const Problem<float>&, Metric);
template std::unique_ptr<Contender> make_kith(const Problem<double>&, Metric);
template std::unique_ptr<Contender> make_kith(const Problem<std::uint8_t>&, Metric);
template std::unique_ptr<Contender> make_kith(const Problem<Float16>&, Metric);
template std::unique_ptr<Contender> make_kith_float32(const Problem<std::uint8_t>&);
template std::unique_ptr<Contender> make_kith_float32(const Problem<Float16>&);
template std::unique_ptr<Contender> make_kith_one_by_one(const Problem<float>&);
template std::unique_ptr<Contender> make_kith_one_by_one(const Problem<double>&);
template std::unique_ptr<Contender> make_kith_one_by_one(const Problem<std::uint8_t>&);
template std::unique_ptr<Contender> make_kith_one_by_one(const Problem<Float16>&);
template std::unique_ptr<Contender> make_kith_graph(const Problem<float>&);
template std::unique_ptr<Contender> make_kith_graph(const Problem<double>&);
template std::unique_ptr<Contender> make_kith_graph(const Problem<std::uint8_t>&);
template std::unique_ptr<Contender> make_kith_graph(const Problem<Float16>&);
template std::unique_ptr<Contender> make_kith_whole(const Problem<float>&, Method);
template std::unique_ptr<Contender> make_kith_whole(const Problem<double>&, Method);
template std::unique_ptr<Contender> make_kith_whole(const Problem<std::uint8_t>&, Method);
template std::unique_ptr<Contender> make_kith_whole(const Problem<Float16>&, Method);

}  // namespace kith::bench

// index.hpp: host points searched by the CPU: rows that are checked and have their norms, clusters, orders, a
// tree.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "backend/contract.hpp"
#include "cpu/prepared_rows.hpp"
#include "cpu/shifted_sort/cached_orders.hpp"
#include "cpu/tree/nearest.hpp"
#include "cpu/tree/tree.hpp"
#include "cpu/triangle/triangle_search.hpp"

namespace kith::cpu {

// Rows that are checked when somebody first needs them, in the same pass as norms where those are wanted.
template <Element T>
class LazyRows {
 public:
  LazyRows(const MatrixView<T>& view, const Metric& metric, const Preparation& preparation)
      : view_(view), metric_(metric), preparation_(preparation) {}
  bool has_norms() const { return rows_ && !rows_->square_norms.empty(); }
  // Not thread-safe but where the rows are there already. `scale`: see Preparation.
  const PreparedRows<T>& get(bool norms, ProgressMeter& progress, double scale = 0);
  // Norms that were made before, of rows that were checked then.
  void take(const backend::Parts& parts);
  // The rows, where they are there already.
  const std::optional<PreparedRows<T>>& rows() const { return rows_; }

 private:
  MatrixView<T> view_;
  Metric metric_;
  Preparation preparation_;
  std::optional<PreparedRows<T>> rows_;
};

template <Element T>
class CpuIndex final : public backend::BackendIndex<T> {
 public:
  explicit CpuIndex(const backend::IndexRequest<T>& request);

  plan::IndexFacts facts(const Problem& problem) const override;
  // What comes from a file is made by the first search, so that the index is there before a page of the file is read.
  void prepare(const Plan* plan) override;
  std::unique_ptr<backend::BackendSearch<T>> begin(const backend::Queries<T>& queries) const override;
  backend::Parts parts() const override;

  // Once they are prepared they have norms or not for good; before, the first search decides.
  const PreparedRows<T>& rows(bool norms, ProgressMeter& progress) const {
    return rows_.get(norms && !is_prepared_, progress);
  }
  LazyRows<T> query_rows(const MatrixView<T>& queries) const;
  std::int64_t size() const { return base_.rows; }
  bool is_base(const MatrixView<T>& queries) const;
  // Made once, by the first who needs them; `made` tells whether that was now.
  const TriangleBase<T>& clusters(const Plan& plan, ProgressMeter& progress, bool* made) const;
  const Tree<DistanceOf<T>>& tree(const Plan& plan, ProgressMeter& progress) const;
  NearestPool<T>& tree_pool() const { return tree_pool_; }
  CachedOrders<T>& orders() const { return orders_; }
  // Of earlier samples for at least as many neighbors where those had enough queries, and with them where they had not:
  // more neighbors leave no less.
  core::SurvivingFractions surviving_fractions(const Plan& plan, const PreparedRows<T>& queries,
                                               ProgressMeter& progress) const;
  // Of the first queries that were sampled.
  double bf16_candidates(const PreparedRows<T>& queries, ProgressMeter& progress) const;
  // Counts what a search by brute force should have taken.
  void count_brute_force(double seconds) const;

 private:
  bool wants_norms() const;
  void prepare_rows(ProgressMeter& progress) const;
  void require_rows() const;

  MatrixView<T> base_;
  const Options& options_;
  int threads_;
  backend::Parts given_;  // what the index began with
  bool is_of_file_;
  bool may_have_norms_;
  mutable std::mutex rows_mutex_;                 // of those of a file
  mutable std::atomic<bool> is_prepared_{false};  // rows_ does not change any more
  mutable LazyRows<T> rows_;
  mutable std::mutex clusters_mutex_;
  mutable std::unique_ptr<TriangleBase<T>> clusters_;  // of method triangle
  mutable std::atomic<bool> has_clusters_{false};      // or there are some in given_
  mutable core::SurvivingFractions survivors_;  // by samples of sampled_queries_ queries and sampled_k_ neighbors
  mutable std::int64_t sampled_queries_ = 0;
  mutable std::int64_t sampled_k_ = 0;
  mutable std::atomic<std::int64_t> known_k_{0};  // sampled_k_ once the samples had enough queries
  mutable std::atomic<double> spent_{0};
  mutable std::atomic<double> bf16_candidates_{0};  // 0 where nobody has looked
  mutable CachedOrders<T> orders_;                  // of method shifted-sort
  mutable std::mutex tree_mutex_;
  mutable std::unique_ptr<Tree<DistanceOf<T>>> tree_;                   // of method tree
  mutable std::atomic<const Tree<DistanceOf<T>>*> made_tree_{nullptr};  // tree_, for those who take no lock
  mutable std::atomic<bool> has_tree_{false};                           // or there is one in given_
  mutable NearestPool<T> tree_pool_;                                    // whose searches are of tree_
};

template <Element T>
std::unique_ptr<backend::BackendIndex<T>> make_index(const backend::IndexRequest<T>& request);

}  // namespace kith::cpu

// search.hpp: one search of an index by the CPU.
#pragma once

#include "cpu/index.hpp"

namespace kith::cpu {

template <Element T>
class CpuSearch final : public backend::BackendSearch<T> {
 public:
  using D = DistanceOf<T>;

  CpuSearch(const CpuIndex<T>& index, const backend::Queries<T>& queries)
      : index_(index),
        queries_(queries),
        rows_(index.query_rows(queries.points)),
        preparing_(queries_.progress, queries.points.rows * index.size()) {}

  plan::DataSamples samples() override;
  void search(const Plan& plan, const NeighborsView<D>& out, SearchReport& report) override;
  void search_batches(const Plan& plan, const core::Batches& batches, std::span<const std::int64_t> listed,
                      std::int64_t k, const NeighborsView<D>& out, SearchReport& report) override;
  void search_radius(const Plan& plan, const core::RadiusQuery<D>& radii, const RadiusLists<D>& out,
                     SearchReport& report) override;
  void graph(const Plan& plan, Symmetrize symmetrize, const GraphLists<D>& out, SearchReport& report) override;
  void reduce(const Plan& plan, const core::Reduction& reduction, const MatrixView<D>& values,
              const ReducedView<D>& out, SearchReport& report) override;

 private:
  // Those of the base where they are the base; scaled like it.
  const PreparedRows<T>& query_rows(bool norms) {
    const PreparedRows<T>& base = base_rows(norms);
    return index_.is_base(queries_.points) ? base : rows_.get(norms, preparing_, base.scale);
  }
  const PreparedRows<T>& base_rows(bool norms) const { return index_.rows(norms, preparing_); }
  // The plan's k neighbors of each query, or one less without the query itself, however far away they are.
  void find_others(const Plan& plan, const NeighborsView<D>& out, SearchReport& report);
  // The plan's k neighbors of each query.
  void find(const Plan& plan, const PreparedRows<T>& queries, const ProgressCallback& progress,
            const NeighborsView<D>& out, SearchReport& report) const;
  void find_by_tree(const Plan& plan, const PreparedRows<T>& queries, const ProgressCallback& progress,
                    const NeighborsView<D>& out, SearchReport& report) const;
  void find_by_triangle(const Plan& plan, const PreparedRows<T>& queries, const ProgressCallback& progress,
                        const NeighborsView<D>& out, SearchReport& report) const;

  const CpuIndex<T>& index_;
  backend::Queries<T> queries_;
  LazyRows<T> rows_;
  mutable ProgressMeter preparing_;  // of what comes before the search
};

}  // namespace kith::cpu

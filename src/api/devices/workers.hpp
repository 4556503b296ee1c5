// workers.hpp: an index on several devices: for each an index of a stripe of the base, whose answers are merged on the
// host. A distance depends on its query and its point alone, so lists of stripes merge to those of the whole base, bit
// for bit, however it is cut (kith/shards.hpp).
// Queries go to the workers in blocks: lists of one are merged while the next is searched. Where the points of a worker
// are streamed through its device there is one block, so that they are read once.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "api/devices/worker.hpp"
#include "api/devices/worker_call.hpp"
#include "core/reduction.hpp"
#include "kith/index.hpp"

namespace kith::api {

template <Element T>
struct Asked;

// Thread-safe: calls take turns on each device.
template <Element T>
class Workers {
 public:
  using D = DistanceOf<T>;

  // `options`: of the whole, as the index has them; its backend is resolved. The points are checked by prepare(), or by
  // the first search.
  Workers(const MatrixView<T>& base, const Options& options);
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers();

  void prepare();
  Plan explain(const Problem& problem) const;

  // Arguments were checked. Answers, and values, are of the host. `limits` replace those of the options; or null.
  void search(const Asked<T>& asked, std::int64_t k, const NeighborsView<D>& out, const SearchLimits* limits,
              const ProgressCallback& progress, SearchReport& report);
  void search_radius(const Asked<T>& asked, std::span<const D> radii, const RadiusLists<D>& out, SearchReport& report);
  // In batches of so many queries, whose neighbors are in memory at a time.
  void reduce(const MatrixView<T>& queries, const core::Reduction& reduction, const MatrixView<D>& values,
              std::int64_t batch, D* out, SearchReport& report);

 private:
  // What a worker's thread works with.
  struct Part {
    std::optional<Index<T>> index;  // none where the stripe has no rows
    bool streams = false;
    WorkerCall* call = nullptr;  // that it has a part in now
    std::int64_t before = 0;     // distances of the call's earlier blocks
  };
  // Some of the queries, and what a worker found for them.
  struct Block {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  struct Lists {
    std::int64_t k = 0;
    std::vector<std::int64_t> ids{};
    std::vector<D> distances{};
  };

  // Calls work(), and, where points are refused, says which row of the whole base or of all queries it is.
  void with_rows_named(const MatrixView<T>& queries, const std::function<void()>& work) const;
  // In a job of the call: calls work(index) for queries of the block, unless the worker has no points.
  void take_part(WorkerCall& call, std::size_t worker, const Block& block,
                 const std::function<void(const Index<T>& index)>& work);
  std::int64_t rows_of_block(std::int64_t queries, std::int64_t k) const;
  SearchReport search_stripe(const Index<T>& index, const Stripe& stripe, const Asked<T>& asked, const Block& block,
                             const SearchLimits* limits, Lists& lists) const;
  void leave_out_self(const Stripe& stripe, std::span<const D> radii, RadiusNeighbors<D>& found) const;
  // Has the workers do work(first, last) with parts of so many queries, on the host.
  void share_out(std::int64_t queries, const std::function<void(std::int64_t first, std::int64_t last)>& work);
  // What the workers did, as what was done.
  void join(const Problem& problem, const std::vector<SearchReport>& reports, SearchReport& report) const;

  MatrixView<T> base_;
  Options options_;
  std::vector<Worker> workers_;
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace kith::api

#include "search_device/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>

#include "backend/contract.hpp"
#include "cuda/host_data/staging.hpp"
#include "kith/error.hpp"
#include "plan/choose.hpp"
#include "search_device/host_points.hpp"

namespace kith::search_bench {
namespace {

constexpr std::int64_t kCheckedQueries = 4;
constexpr int kRounds = 3;

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double time(const std::function<void()>& run) {
  const auto begin = Clock::now();
  run();
  return ms_since(begin);
}

// Says what is done, and how long it took.
void phase(const std::string& name, const std::function<void()>& run) {
  fmt::print("  {:<64}", name);
  std::fflush(stdout);
  const double ms = time(run);
  fmt::print("{:8.2f} s\n", ms * 1e-3);
  std::fflush(stdout);
}

std::size_t as_size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

std::size_t bytes_of(const MatrixView<float>& rows) {
  return as_size(rows.rows * rows.cols) * sizeof(float);
}

class StreamBench {
 public:
  StreamBench(const StreamSettings& settings, const Limits& limits) : quick_(limits.quick) {
    const std::int64_t bytes = quick_ ? std::min<std::int64_t>(settings.bytes, 600'000'000) : settings.bytes;
    result_.budget = quick_ ? bytes / 8 : settings.budget;
    if (quick_) result_.queries = 50;
    phase(fmt::format("make {:.1f} GB of points", static_cast<double>(bytes) * 1e-9),
          [&] { points_ = std::make_unique<HostPoints>(bytes); });
    // The queries are the last rows.
    const std::int64_t all = points_->bytes() / 4 / result_.dims;
    result_.base_rows = all - result_.queries;
    base_ = points_->rows(0, result_.base_rows, result_.dims);
    queries_ = points_->rows(result_.base_rows, result_.queries, result_.dims);
    result_.plan = plan_of(base_.rows);
    result_.judged = !quick_;
  }

  StreamResult run() {
    phase("warm up: three tiles", [&] {
      const std::int64_t rows = std::min(base_.rows, 3 * result_.plan.base_tile);
      StreamedSearch ignored;
      HostAnswer answer;
      search(points_->rows(0, rows, result_.dims), false, ignored, answer);
    });
    phase("pageable memory by threads and buffers", [&] { measure_staging(); });
    measure_searches("pageable");
    phase("copy as much from a small buffer", [&] { copy_buffer(); });
    phase("search of one tile that is there", [&] { measure_tile(); });
    phase("pin the points", [&] { pin(); });
    if (result_.not_pinned.empty()) {
      phase("copy the base", [&] { repeat(result_.base_copy_ms, [&] { copy_base(); }); });
      measure_searches("pinned");
      phase("search over transfer", [&] { measure_ratios(); });
    }
    phase(fmt::format("check {} queries on the host", kCheckedQueries), [&] { check(); });
    return std::move(result_);
  }

 private:
  Plan plan_of(std::int64_t rows) const {
    Options options;
    options.metric = MetricKind::sqeuclidean;
    options.memory_budget = result_.budget;
    return plan::choose({rows, result_.queries, result_.dims, result_.k, DType::float32}, options,
                        cuda::device_facts());
  }

  static void repeat(Samples& samples, const std::function<void()>& run) {
    for (int i = 0; i < kRounds; ++i) samples.push_back(time(run));
  }

  // With the tiles of the whole base, whatever part of it is searched.
  void search(const MatrixView<float>& base, bool resident, StreamedSearch& search, HostAnswer& answer) const {
    const auto index = cuda::make_index(base, MetricKind::sqeuclidean, resident);
    Plan plan = result_.plan;
    plan.problem.base_rows = base.rows;
    plan.base_tile = std::min(plan.base_tile, base.rows);
    answer.ids.assign(as_size(result_.queries * result_.k), -1);
    answer.distances.assign(answer.ids.size(), -1);
    repeat(search.ms, [&] {
      search.report = {};
      index->search(queries_, plan, {}, answer.ids.data(), answer.distances.data(), search.report);
    });
  }

  // Where the system does not let so much be pinned, what needs it is left out.
  void pin() {
    try {
      points_->pin();
    } catch (const Error& error) {
      result_.not_pinned = error.what();
    }
  }

  void measure_searches(const std::string& memory) {
    StreamedSearch found;
    found.memory = memory;
    HostAnswer answer;
    phase("search, " + memory, [&] { search(base_, false, found, answer); });
    result_.searches.push_back(std::move(found));
    if (answer_.ids.empty()) {
      answer_ = std::move(answer);
    } else if (answer.ids != answer_.ids || answer.distances != answer_.distances) {
      result_.fault = memory + " memory gave another answer than the first";
    }
  }

  void measure_tile() {
    const std::int64_t rows = std::min(base_.rows, result_.plan.base_tile);
    StreamedSearch found;
    HostAnswer answer;
    search(points_->rows(0, rows, result_.dims), true, found, answer);
    result_.tile_ms = select_bench::median(found.ms);
  }

  void measure_staging() {
    const std::int64_t rows = std::min(base_.rows, (std::int64_t{4} << 30) / 4 / result_.dims);
    const MatrixView<float> part = points_->rows(0, rows, result_.dims);
    const cuda::Stream stream;
    cuda::DeviceBuffer<float> there(as_size(part.rows * part.cols), stream);
    for (const int threads : {1, 2, 4, 8, 12, 16})
      for (const std::int64_t mebibytes : {1, 2, 4, 8}) {
        if (quick_ && threads * mebibytes > 8) continue;
        StagingRow row{threads, mebibytes << 20};
        std::unique_ptr<cuda::host_data::Staging> staging;
        row.pin_ms = time([&] {
          staging = std::make_unique<cuda::host_data::Staging>(
              cuda::host_data::StagingShape{as_size(row.buffer_bytes), threads}, stream);
        });
        const double ms = time([&] {
          staging->upload(part, there.data());
          stream.synchronize();
        });
        row.gb_per_s = static_cast<double>(bytes_of(part)) / ms * 1e-6;
        result_.staging.push_back(row);
      }
  }

  // Tile by tile into one slot.
  void copy_base() const {
    const std::int64_t tile = result_.plan.base_tile;
    const cuda::Stream stream;
    cuda::DeviceBuffer<float> slot(as_size(tile * result_.dims), stream);
    for (std::int64_t first = 0; first < base_.rows; first += tile) {
      const MatrixView<float> rows = base_.rows_from(first, std::min(tile, base_.rows - first));
      KITH_CUDA(cudaMemcpyAsync(slot.data(), rows.data, bytes_of(rows), cudaMemcpyHostToDevice, stream));
    }
    stream.synchronize();
  }

  void copy_buffer() {
    const std::size_t tile = as_size(result_.plan.base_tile * result_.dims) * sizeof(float);
    const cuda::PinnedBuffer<unsigned char> buffer(tile);
    const cuda::Stream stream;
    cuda::DeviceBuffer<unsigned char> slot(tile, stream);
    repeat(result_.buffer_copy_ms, [&] {
      for (std::size_t left = bytes_of(base_); left > 0;) {
        const std::size_t now = std::min(left, tile);
        KITH_CUDA(cudaMemcpyAsync(slot.data(), buffer.data(), now, cudaMemcpyHostToDevice, stream));
        left -= now;
      }
      stream.synchronize();
    });
  }

  void check() {
    result_.queries_checked = std::min(kCheckedQueries, result_.queries);
    // Rows that are evenly apart are a matrix too.
    const std::int64_t apart = result_.queries / result_.queries_checked;
    const MatrixView<float> some(queries_.data, result_.queries_checked, result_.dims, apart * result_.dims, 1);
    const HostAnswer right = scan(base_, some, result_.k);
    for (std::int64_t q = 0; q < result_.queries_checked; ++q)
      for (std::int64_t i = 0; i < result_.k; ++i) {
        const std::size_t mine = as_size(q * apart * result_.k + i);
        const std::size_t want = as_size(q * result_.k + i);
        if (answer_.ids[mine] != right.ids[want] || answer_.distances[mine] != right.distances[want])
          result_.fault =
              fmt::format("query {}: neighbor {} is {}, not {}", q * apart, i, right.ids[want], answer_.ids[mine]);
      }
  }

  // The base is pinned by now, and searched where it is on the device.
  void measure_ratios() {
    result_.ratio_rows = quick_ ? 1000 : 1'000'000;
    for (const std::int64_t dims : {4, 16, 64, 128, 256, 512})
      for (const std::int64_t queries : {1, 10, 100, 1000, 10000}) {
        if (queries > result_.ratio_rows / 10) continue;
        const MatrixView<float> all = points_->rows(0, result_.ratio_rows + queries, dims);
        if (static_cast<std::int64_t>(bytes_of(all)) > points_->bytes()) continue;
        result_.ratios.push_back(ratio(all, queries));
      }
  }

  RatioRow ratio(const MatrixView<float>& all, std::int64_t queries) const {
    const std::int64_t rows = all.rows - queries;
    RatioRow row{queries, all.cols};
    const cuda::Stream stream;
    cuda::DeviceBuffer<float> there(as_size(all.rows * all.cols), stream);
    cuda::DeviceBuffer<float> distances(as_size(queries * result_.k), stream);
    cuda::DeviceBuffer<std::int64_t> ids(distances.size(), stream);
    cuda::PinnedBuffer<float> host_distances(distances.size());
    cuda::PinnedBuffer<std::int64_t> host_ids(ids.size());
    Options options;
    options.metric = MetricKind::sqeuclidean;
    const Plan plan = plan::choose({rows, queries, all.cols, result_.k, DType::float32}, options, cuda::device_facts());
    const auto timed = [&](const std::function<void()>& run) {
      Samples samples;
      run();
      stream.synchronize();
      repeat(samples, [&] {
        run();
        stream.synchronize();
      });
      return select_bench::median(samples);
    };
    row.transfer_ms = timed([&] {
      KITH_CUDA(cudaMemcpyAsync(there.data(), all.data, bytes_of(all), cudaMemcpyHostToDevice, stream));
      KITH_CUDA(cudaMemcpyAsync(host_distances.data(), distances.data(), distances.size() * sizeof(float),
                                cudaMemcpyDeviceToHost, stream));
      KITH_CUDA(cudaMemcpyAsync(host_ids.data(), ids.data(), ids.size() * sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                                stream));
    });
    const auto index = cuda::make_pointer_index(MatrixView<float>(there.data(), rows, all.cols),
                                                Metric(MetricKind::sqeuclidean), true, stream);
    row.search_ms = timed([&] {
      SearchReport report;
      index->search({there.data() + rows * all.cols, queries, all.cols}, plan, distances.data(), ids.data(), stream,
                    report);
    });
    return row;
  }

  bool quick_;
  StreamResult result_;
  std::unique_ptr<HostPoints> points_;
  MatrixView<float> base_;
  MatrixView<float> queries_;
  HostAnswer answer_;
};

}  // namespace

double StreamResult::copy_ms() const {
  const double from_buffer = select_bench::median(buffer_copy_ms);
  return base_copy_ms.empty() ? from_buffer : std::min(from_buffer, select_bench::median(base_copy_ms));
}

double StreamResult::ratio(const StreamedSearch& search) const {
  return select_bench::median(search.ms) / copy_ms();
}

double StreamResult::overlap(const StreamedSearch& search) const {
  const double hidden = copy_ms() + search_alone_ms() - select_bench::median(search.ms);
  return hidden / std::min(copy_ms(), search_alone_ms());
}

StreamResult measure_stream(const StreamSettings& settings, const Limits& limits) {
  return StreamBench(settings, limits).run();
}

}  // namespace kith::search_bench

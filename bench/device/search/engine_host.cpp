// engine_host.cpp: queries and answers in the host's memory, pageable and pinned, of an index whose base is on the
// device, beside the same search with both on the device and a plain copy of the same bytes from and to the same
// arrays. The index is made once. By the host's clock.
#include <fmt/format.h>

#include <algorithm>

#include "device/search/check.hpp"
#include "device/search/engine.hpp"
#include "device/search/point_set.hpp"
#include "kith/index.hpp"

namespace kith::bench::device::search {
namespace {

// Of the search on the device and the copy together.
constexpr double kHostBound = 1.1;

class EngineHost {
 public:
  EngineHost(const Problem& problem, Harness& harness)
      : problem_(problem),
        harness_(harness),
        stream_(harness.stream()),
        points_(problem, stream_),
        device_queries_(points_.queries(problem.queries)),
        index_(points_.base(), options(), stream_),
        checker_(problem.metric.kind, points_.base(), device_queries_, harness.limits().samples, stream_),
        answers_(static_cast<std::size_t>(problem.queries * problem.k)),
        copied_queries_(values(), stream_),
        device_ids_(answers_, stream_),
        device_distances_(answers_, stream_),
        queries_(values()),
        ids_(answers_),
        distances_(answers_),
        pinned_queries_(values()),
        pinned_ids_(answers_),
        pinned_distances_(answers_) {
    KITH_CUDA(cudaMemcpyAsync(queries_.data(), device_queries_.data, values() * sizeof(float), cudaMemcpyDeviceToHost,
                              stream_));
    stream_.synchronize();
    std::copy(queries_.begin(), queries_.end(), pinned_queries_.data());
  }

  std::vector<Row> rows() {
    const HostArrays pageable{queries_.data(), ids_.data(), distances_.data()};
    const HostArrays pinned{pinned_queries_.data(), pinned_ids_.data(), pinned_distances_.data()};
    std::vector<Contender> contenders(5);
    contenders[0] = contender("device", [this] {
      search(device_queries_, {device_ids_.data(), device_distances_.data(), Memory::device});
    });
    contenders[0].check = [this](bool first) {
      return first ? checker_.fault({device_distances_.data(), device_ids_.data(), problem_.k}) : std::string();
    };
    contenders[1] = contender("copy", [this, pageable] { copy(pageable); });
    contenders[2] = contender("copy, pinned", [this, pinned] { copy(pinned); });
    contenders[3] = host_contender("host", pageable);
    contenders[4] = host_contender("host, pinned", pinned);
    std::vector<Row> rows = harness_.race(std::move(contenders), {.on_host_clock = true});
    for (Row& row : rows) row.wall.samples_ms = row.samples_ms;
    if (!harness_.quick())
      for (std::size_t host : {3, 4}) judge(rows[0], rows[host - 2], rows[host]);
    return rows;
  }

 private:
  // Arrays of the caller.
  struct HostArrays {
    float* queries;
    std::int64_t* ids;
    float* distances;
  };

  std::size_t values() const { return static_cast<std::size_t>(problem_.queries * problem_.dims); }

  Options options() const {
    Options options;
    options.metric = problem_.metric;
    options.backend = kBackend;
    return options;
  }

  void search(const MatrixView<float>& queries, const NeighborsView<float>& out) {
    index_.search_into(queries, problem_.k, out, stream_);
  }

  // The same bytes, from and to the same arrays.
  void copy(const HostArrays& arrays) {
    KITH_CUDA(cudaMemcpyAsync(copied_queries_.data(), arrays.queries, values() * sizeof(float), cudaMemcpyHostToDevice,
                              stream_));
    KITH_CUDA(cudaMemcpyAsync(arrays.ids, device_ids_.data(), answers_ * sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                              stream_));
    KITH_CUDA(cudaMemcpyAsync(arrays.distances, device_distances_.data(), answers_ * sizeof(float),
                              cudaMemcpyDeviceToHost, stream_));
  }

  Contender contender(const char* name, std::function<void()> run) {
    Contender contender;
    contender.row.problem = describe(problem_);
    contender.row.contender = name;
    contender.row.facts = {{"queries", problem_.queries},
                           {"base_rows", problem_.base_rows},
                           {"dims", problem_.dims},
                           {"k", problem_.k},
                           {"clock", "host"},
                           {"metric", kith::to_string(problem_.metric)},
                           {"data", to_string(problem_.data)}};
    contender.run = [this, run = std::move(run)] {
      run();
      stream_.synchronize();
    };
    return contender;
  }

  Contender host_contender(const char* name, const HostArrays& arrays) {
    const MatrixView<float> rows(arrays.queries, problem_.queries, problem_.dims);
    const NeighborsView<float> out{arrays.ids, arrays.distances, Memory::host};
    Contender made = contender(name, [this, rows, out] { search(rows, out); });
    made.prepare = [this, out] {
      std::fill_n(out.ids, answers_, -1);
      std::fill_n(out.distances, answers_, -1.0F);
    };
    made.check = [this, out](bool) { return fault(out); };
    return made;
  }

  // The answer on the device, which was checked, is the right one.
  std::string fault(const NeighborsView<float>& found) {
    std::vector<std::int64_t> ids(answers_);
    std::vector<float> distances(answers_);
    KITH_CUDA(cudaMemcpyAsync(ids.data(), device_ids_.data(), answers_ * sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                              stream_));
    KITH_CUDA(cudaMemcpyAsync(distances.data(), device_distances_.data(), answers_ * sizeof(float),
                              cudaMemcpyDeviceToHost, stream_));
    stream_.synchronize();
    const bool same = std::equal(ids.begin(), ids.end(), found.ids) &&
                      std::equal(distances.begin(), distances.end(), found.distances);
    return same ? "" : "another answer than from the device's memory";
  }

  static void judge(const Row& device, const Row& copy, Row& host) {
    if (!device.timed() || !copy.timed() || !host.timed()) return;
    const double ratio = host.median_ms() / (device.median_ms() + copy.median_ms());
    host.bar =
        Bar{fmt::format("≤ {:g} (device + copy)", kHostBound), fmt::format("{:.3f}", ratio), ratio <= kHostBound};
    host.note = fmt::format("{:.3f} of device + copy", ratio);
  }

  Problem problem_;
  Harness& harness_;
  const cuda::Stream& stream_;
  PointSet points_;
  MatrixView<float> device_queries_;
  Index<float> index_;
  Checker checker_;
  std::size_t answers_;
  cuda::DeviceBuffer<float> copied_queries_;
  cuda::DeviceBuffer<std::int64_t> device_ids_;
  cuda::DeviceBuffer<float> device_distances_;
  std::vector<float> queries_;
  std::vector<std::int64_t> ids_;
  std::vector<float> distances_;
  cuda::PinnedBuffer<float> pinned_queries_;
  cuda::PinnedBuffer<std::int64_t> pinned_ids_;
  cuda::PinnedBuffer<float> pinned_distances_;
};

}  // namespace

Case engine_host_case(const std::string& name, const Problem& wanted, const Settings& settings) {
  Problem problem = wanted;
  if (settings.quick) problem = {20, 600, 32, 10};
  return {name, describe(problem),
          "queries and answers on the device, copied, pageable, pinned; host at most 1.1 (device + copy)",
          [=](Harness& harness) { return EngineHost(problem, harness).rows(); }};
}

}  // namespace kith::bench::device::search

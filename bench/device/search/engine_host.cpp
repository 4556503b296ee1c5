// engine_host.cpp: one call with points and answers in the host's memory, beside one with both on the device and a
// plain copy of the same bytes from and to pinned memory. Index, norms and all are made within the call. By the host's
// clock.
#include <fmt/format.h>

#include <algorithm>

#include "device/search/check.hpp"
#include "device/search/engine.hpp"
#include "device/search/host_points.hpp"
#include "kith/index.hpp"

namespace kith::bench::device::search {
namespace {

// Of the call on the device and the copy together.
constexpr double kHostBound = 1.1;

class EngineHost {
 public:
  EngineHost(const Problem& problem, Harness& harness)
      : problem_(problem),
        harness_(harness),
        stream_(harness.stream()),
        pageable_(values() * 4 + kSlack),
        pinned_(values() * 4 + kSlack),
        answers_(static_cast<std::size_t>(problem.queries * problem.k)),
        device_values_(static_cast<std::size_t>(values()), stream_),
        device_ids_(answers_, stream_),
        device_distances_(answers_, stream_),
        ids_(answers_),
        distances_(answers_),
        pinned_ids_(answers_),
        pinned_distances_(answers_) {
    pinned_.pin();
    copy_in();
    stream_.synchronize();
  }

  std::vector<Row> rows() {
    const NeighborsView<float> on_device{device_ids_.data(), device_distances_.data(), Memory::device};
    const MatrixView<float> base = device_rows(0, problem_.base_rows);
    const MatrixView<float> queries = device_rows(problem_.base_rows, problem_.queries);
    const Checker checker(problem_.metric.kind, base, queries, harness_.limits().samples, stream_);
    std::vector<Contender> contenders(4);
    contenders[0] = contender("device", [this, base, queries, on_device] { search(base, queries, on_device); });
    contenders[0].check = [&](bool first) {
      return first ? checker.fault({device_distances_.data(), device_ids_.data(), problem_.k}) : std::string();
    };
    contenders[1] = contender("copy", [this] {
      copy_in();
      copy_out();
    });
    contenders[2] = host_contender("host", pageable_, {ids_.data(), distances_.data(), Memory::host});
    contenders[3] =
        host_contender("host, pinned", pinned_, {pinned_ids_.data(), pinned_distances_.data(), Memory::host});
    std::vector<Row> rows = harness_.race(std::move(contenders), {.on_host_clock = true});
    for (Row& row : rows) row.wall.samples_ms = row.samples_ms;
    if (!harness_.quick() && rows[0].timed() && rows[1].timed())
      for (Row* row : {&rows[2], &rows[3]}) judge(rows[0].median_ms() + rows[1].median_ms(), *row);
    return rows;
  }

 private:
  static constexpr std::int64_t kSlack = 4096;

  std::int64_t values() const { return (problem_.base_rows + problem_.queries) * problem_.dims; }

  MatrixView<float> device_rows(std::int64_t first, std::int64_t count) const {
    return MatrixView<float>::on_device(device_values_.data() + first * problem_.dims, count, problem_.dims);
  }

  void search(const MatrixView<float>& base, const MatrixView<float>& queries, const NeighborsView<float>& out) {
    Options options;
    options.metric = problem_.metric;
    options.backend = kBackend;
    search_into<float>(base, queries, problem_.k, out, options, stream_);
  }

  void copy_in() {
    KITH_CUDA(cudaMemcpyAsync(device_values_.data(), pinned_.rows(0, 1, 1).data, device_values_.size() * sizeof(float),
                              cudaMemcpyHostToDevice, stream_));
  }

  void copy_out() {
    KITH_CUDA(cudaMemcpyAsync(pinned_ids_.data(), device_ids_.data(), answers_ * sizeof(std::int64_t),
                              cudaMemcpyDeviceToHost, stream_));
    KITH_CUDA(cudaMemcpyAsync(pinned_distances_.data(), device_distances_.data(), answers_ * sizeof(float),
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

  Contender host_contender(const char* name, const HostPoints& points, const NeighborsView<float>& out) {
    Contender made = contender(name, [this, &points, out] {
      search(points.rows(0, problem_.base_rows, problem_.dims),
             points.rows(problem_.base_rows, problem_.queries, problem_.dims), out);
    });
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

  static void judge(double parts_ms, Row& row) {
    const double ratio = row.timed() ? row.median_ms() / parts_ms : 0;
    row.bar = Bar{fmt::format("≤ {:g} (device + copy)", kHostBound), fmt::format("{:.3f}", ratio),
                  row.timed() && ratio <= kHostBound};
    row.note = fmt::format("{:.3f} of device + copy", ratio);
  }

  Problem problem_;
  Harness& harness_;
  const cuda::Stream& stream_;
  HostPoints pageable_;
  HostPoints pinned_;
  std::size_t answers_;
  cuda::DeviceBuffer<float> device_values_;
  cuda::DeviceBuffer<std::int64_t> device_ids_;
  cuda::DeviceBuffer<float> device_distances_;
  std::vector<std::int64_t> ids_;
  std::vector<float> distances_;
  cuda::PinnedBuffer<std::int64_t> pinned_ids_;
  cuda::PinnedBuffer<float> pinned_distances_;
};

}  // namespace

Case engine_host_case(const std::string& name, const Problem& wanted, const Settings& settings) {
  Problem problem = wanted;
  if (settings.quick) problem = {20, 600, 32, 10};
  return {name, describe(problem), "device, copy, host and pinned host arrays; host at most 1.1 (device + copy)",
          [=](Harness& harness) { return EngineHost(problem, harness).rows(); }};
}

}  // namespace kith::bench::device::search

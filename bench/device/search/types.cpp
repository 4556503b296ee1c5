// types.cpp: the same points as float32, float16, bfloat16 and uint8: what searches take, and what an index holds of
// the device's memory. The base comes from the host; queries and answers are on the device.
#include <fmt/format.h>

#include <memory>

#include "device/harness/peak_memory.hpp"
#include "device/search/check.hpp"
#include "device/search/problem.hpp"
#include "kith/float16.hpp"
#include "kith/index.hpp"

namespace kith::bench::device::search {
namespace {

// Of the time that float32 takes where it is read as floats, for one query; of that of any search, for many.
constexpr double kOneQueryBound = 0.6;
constexpr double kManyBound = 1.0;
constexpr double kMemoryBound = 0.5;

std::vector<float> copied_to_host(const MatrixView<float>& points, const cuda::Stream& stream) {
  std::vector<float> values(static_cast<std::size_t>(points.rows * points.cols));
  KITH_CUDA(cudaMemcpyAsync(values.data(), points.data, values.size() * sizeof(float), cudaMemcpyDeviceToHost, stream));
  stream.synchronize();
  return values;
}

template <class V>
void copy_to_device(const std::vector<V>& values, cuda::DeviceBuffer<V>& to, const cuda::Stream& stream) {
  to = cuda::DeviceBuffer<V>(values.size(), stream);
  KITH_CUDA(cudaMemcpyAsync(to.data(), values.data(), values.size() * sizeof(V), cudaMemcpyHostToDevice, stream));
  stream.synchronize();
}

// Rows in the type that is searched, and as the floats that they are.
template <class T>
struct TypedRows {
  std::int64_t count;
  std::int64_t dims;
  std::vector<T> host;
  cuda::DeviceBuffer<T> device;
  cuda::DeviceBuffer<float> floats;

  TypedRows(const Points& points, const cuda::Stream& stream) : count(points.rows()), dims(points.view().cols) {
    std::vector<float> values = copied_to_host(points.view(), stream);
    host.reserve(values.size());
    for (float& value : values) {
      host.push_back(static_cast<T>(value));
      value = static_cast<float>(host.back());
    }
    copy_to_device(host, device, stream);
    copy_to_device(values, floats, stream);
  }
  MatrixView<T> on_host() const { return {host.data(), count, dims}; }
  MatrixView<T> on_device() const { return MatrixView<T>::on_device(device.data(), count, dims); }
  MatrixView<float> as_floats() const { return MatrixView<float>::on_device(floats.data(), count, dims); }
};

// An index of rows of T, and its searches.
template <class T>
class TypedSearch {
 public:
  TypedSearch(const Problem& problem, DistanceStage stage, const TypedRows<T>& base, const TypedRows<T>& queries,
              Harness& harness)
      : problem_(problem),
        stream_(harness.stream()),
        queries_(queries.on_device()),
        checker_(problem.metric.kind, base.as_floats(), queries.as_floats(), harness.limits().samples, stream_),
        ids_(static_cast<std::size_t>(problem.queries * problem.k), stream_),
        distances_(ids_.size(), stream_) {
    Options options;
    options.metric = problem.metric;
    options.backend = kBackend;
    options.distance = stage;
    const std::int64_t before = device_bytes_in_use();
    index_ = std::make_unique<Index<T>>(base.on_host(), options);
    constexpr int kUntilItStays = 6;
    for (int i = 0; i < kUntilItStays; ++i) search();
    bytes_ = device_bytes_in_use() - before;
  }

  void search() {
    report_ = index_->search_into(queries_, problem_.k, {ids_.data(), distances_.data(), Memory::device}, stream_);
  }
  std::string fault() { return checker_.fault({distances_.data(), ids_.data(), problem_.k}); }
  std::int64_t index_bytes() const { return bytes_; }
  const Plan& plan() const { return report_.plan; }

 private:
  Problem problem_;
  const cuda::Stream& stream_;
  MatrixView<T> queries_;
  Checker checker_;
  cuda::DeviceBuffer<std::int64_t> ids_;
  cuda::DeviceBuffer<float> distances_;
  std::unique_ptr<Index<T>> index_;
  std::int64_t bytes_ = 0;
  SearchReport report_;
};

class TypesRun {
 public:
  TypesRun(const Problem& problem, Harness& harness)
      : problem_(problem),
        harness_(harness),
        base_(problem.base_rows, problem.dims, problem.data, 1, harness.stream()),
        queries_(problem.queries, problem.dims, problem.data, 2, harness.stream()) {}

  std::vector<Row> rows() {
    add<float>("float32", DistanceStage::automatic);
    add<float>("float32, read as floats", problem_.queries == 1 ? DistanceStage::exact : DistanceStage::register_tiled);
    add<Float16>("float16", DistanceStage::automatic);
    add<BFloat16>("bfloat16", DistanceStage::automatic);
    if (problem_.data == Data::bytes) add<std::uint8_t>("uint8", DistanceStage::automatic);
    std::vector<Row> rows = harness_.race(std::move(contenders_), {.both_clocks = true});
    for (std::size_t i = 0; i < rows.size(); ++i) conclude_[i](rows[i]);
    if (!harness_.quick())
      for (Row& row : rows) judge(rows[0], rows[1], row);
    return rows;
  }

 private:
  template <class T>
  void add(const char* name, DistanceStage stage) {
    Contender contender;
    contender.row.problem = describe(problem_);
    contender.row.contender = name;
    auto queries = std::make_shared<TypedRows<T>>(queries_, harness_.stream());
    auto rows = std::make_shared<TypedRows<T>>(base_, harness_.stream());
    auto run = std::make_shared<TypedSearch<T>>(problem_, stage, *rows, *queries, harness_);
    contender.run = [run] { run->search(); };
    contender.check = [run, rows, queries](bool) { return run->fault(); };
    contenders_.push_back(std::move(contender));
    conclude_.push_back([run](Row& row) {
      row.facts["index_bytes"] = run->index_bytes();
      row.facts["plan"] = describe(run->plan());
      row.note =
          fmt::format("{}, index {:.1f} MB", describe(run->plan()), static_cast<double>(run->index_bytes()) * 1e-6);
    });
  }

  // float16 beside float32: the bars.
  void judge(const Row& floats, const Row& read_as_floats, Row& row) const {
    if (row.contender != "float16" || !row.timed() || !floats.timed() || !read_as_floats.timed()) return;
    const bool one = problem_.queries == 1;
    const double time = row.wall.median_ms() / (one ? read_as_floats : floats).wall.median_ms();
    const double bytes = row.facts["index_bytes"].get<double>() / floats.facts["index_bytes"].get<double>();
    const double bound = one ? kOneQueryBound : kManyBound;
    row.facts["of_float32"] = row.wall.median_ms() / floats.wall.median_ms();
    row.bar = Bar{fmt::format("≤ {:g} of {}, ≤ {:g} of the memory", bound, one ? "float32 read as floats" : "float32",
                              kMemoryBound),
                  fmt::format("{:.3f}, {:.3f}", time, bytes), time <= bound && bytes <= kMemoryBound};
  }

  Problem problem_;
  Harness& harness_;
  Points base_;
  Points queries_;
  std::vector<Contender> contenders_;
  std::vector<std::function<void(Row&)>> conclude_;
};

}  // namespace

Suite types_suite(const Settings& settings) {
  Suite suite{"search/types", "the same points in narrower types", "", {}, search_ceilings, {}};
  for (const Data data : {Data::gaussian, Data::bytes})
    for (const std::int64_t queries : {1, 1000, 10000}) {
      Problem problem{queries, 1000000, 128, 10, kL2, 0, false, data};
      if (settings.quick) problem.base_rows = problem.queries = 600;
      suite.cases.push_back({"", describe(problem), "float32, float16, bfloat16; of bytes uint8",
                             [problem](Harness& harness) { return TypesRun(problem, harness).rows(); }});
    }
  return suite;
}

}  // namespace kith::bench::device::search

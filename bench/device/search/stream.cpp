// stream.cpp: search of a base that is larger than the device's budget and streamed to it from the host.
//
// The bar: at most 1.2 times as long as copying the same bytes from pinned memory and doing nothing else, by the faster
// of two copies in pieces of a tile. The base lies in pageable memory first and is pinned then; the same search is
// timed on both, by the host's clock, from the queries to the answer in the host's memory. The answer is compared with
// a plain scan for some queries, and for all of them between the two. Beside it: how fast pageable memory goes up by
// threads and buffers, and the time of a search whose points are there over the time of bringing them there (Hanák,
// Figure 5.14).
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "common/check.hpp"
#include "common/parallel.hpp"
#include "cuda/host_data/staging.hpp"
#include "device/search/host_points.hpp"
#include "device/search/problem.hpp"
#include "kith/index.hpp"

namespace kith::bench::device::search {
namespace {

constexpr double kBar = 1.2;
constexpr std::int64_t kDims = 128;
constexpr std::int64_t kNeighbors = 10;
const RaceRules kRules{.rounds = 3, .budget_ms = kUnlimited, .on_host_clock = true};

std::size_t bytes_of(const MatrixView<float>& rows) {
  return static_cast<std::size_t>(rows.rows * rows.cols) * sizeof(float);
}

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

Options options_with(std::int64_t budget) {
  Options options;
  options.metric = MetricKind::sqeuclidean;
  options.backend = kBackend;
  options.memory_budget = budget;
  return options;
}

// The base and what all cases know of it.
class Streamed {
 public:
  Streamed(std::int64_t bytes, bool quick)
      : queries_count_(quick ? 10 : 1000),
        budget_(quick ? bytes / 8 : std::int64_t{8} << 30),
        points_(bytes),
        base_(points_.rows(0, points_.bytes() / 4 / kDims - queries_count_, kDims)),
        queries_(points_.rows(base_.rows, queries_count_, kDims)),  // the last rows
        quick_(quick),
        plan_(Index<float>(base_, options_with(budget_)).explain(queries_count_, kNeighbors)) {}

  std::vector<Row> staging(Harness& harness) const {
    std::vector<Row> rows;
    const MatrixView<float> part = base_.rows_from(0, std::min(base_.rows, (std::int64_t{4} << 30) / 4 / kDims));
    cuda::DeviceBuffer<float> there(static_cast<std::size_t>(part.rows * part.cols), harness.stream());
    for (const int threads : {1, 2, 4, 8, 12, 16})
      for (const std::int64_t mebibytes : {1, 2, 4, 8}) {
        if (quick_ && threads * mebibytes > 2) continue;
        const auto begin = std::chrono::steady_clock::now();
        cuda::host_data::Staging staging({static_cast<std::size_t>(mebibytes << 20), threads}, harness.stream());
        const double pin_ms = since(begin);
        const double ms = harness
                              .time(
                                  [&] {
                                    staging.upload(part, there.data());
                                    harness.stream().synchronize();
                                  },
                                  kRules)
                              .ms;
        Row row = row_of(fmt::format("staging, {} threads, {} MiB", threads, mebibytes));
        row.status = Status::counted;
        const double rate = static_cast<double>(bytes_of(part)) / ms * 1e-6;
        row.facts.update({{"threads", threads}, {"buffer_bytes", mebibytes << 20}, {"pin_ms", pin_ms}});
        row.facts["gb_per_s"] = rate;
        row.note = fmt::format("{:8.2f} GB/s, {:.2f} ms to pin", rate, pin_ms);
        rows.push_back(std::move(row));
      }
    return rows;
  }

  std::vector<Row> pageable(Harness& harness) {
    std::vector<Row> rows = harness.race({search("search, pageable", base_, options_with(budget_))}, kRules);
    // One tile that is there, by the same stage.
    Options options = options_with(0);
    options.method = plan_.method;
    options.distance = plan_.distance;
    const MatrixView<float> tile = base_.rows_from(0, std::min(base_.rows, plan_.base_tile));
    Contender resident = search("search of one tile", tile, options);
    resident.check = nullptr;
    const std::size_t bytes = bytes_of(tile);
    const cuda::PinnedBuffer<unsigned char> buffer(bytes);
    cuda::DeviceBuffer<unsigned char> slot(bytes, harness.stream());
    Contender copy{
        row_of("plain copy of a small buffer"), [&] {
          for (std::size_t left = bytes_of(base_); left > 0;) {
            const std::size_t now = std::min(left, bytes);
            KITH_CUDA(cudaMemcpyAsync(slot.data(), buffer.data(), now, cudaMemcpyHostToDevice, harness.stream()));
            left -= now;
          }
          harness.stream().synchronize();
        }};
    for (Row& row : harness.race({std::move(resident), std::move(copy)}, kRules)) rows.push_back(std::move(row));
    return rows;
  }

  std::vector<Row> pinned(Harness& harness) {
    Row refused = row_of("search, pinned");
    if (!pin(refused)) return {refused};
    cuda::DeviceBuffer<float> slot(static_cast<std::size_t>(plan_.base_tile * kDims), harness.stream());
    Contender copy{row_of("plain copy of the base"), [&] {
                     for (std::int64_t first = 0; first < base_.rows; first += plan_.base_tile) {
                       const auto rows = base_.rows_from(first, std::min(plan_.base_tile, base_.rows - first));
                       KITH_CUDA(cudaMemcpyAsync(slot.data(), rows.data, bytes_of(rows), cudaMemcpyHostToDevice,
                                                 harness.stream()));
                     }
                     harness.stream().synchronize();
                   }};
    return harness.race({std::move(copy), search("search, pinned", base_, options_with(budget_))}, kRules);
  }

  // The base is searched where it is on the device.
  std::vector<Row> ratios(Harness& harness) {
    std::vector<Row> all(1, row_of("search over transfer"));
    if (!pin(all.front())) return all;
    all.clear();
    const std::int64_t rows = quick_ ? 200 : 1'000'000;
    for (const std::int64_t dims : {4, 16, 64, 128, 256, 512})
      for (const std::int64_t queries : {1, 10, 100, 1000, 10000}) {
        if (queries > rows / 10) continue;
        const MatrixView<float> points = points_.rows(0, rows + queries, dims);
        if (static_cast<std::int64_t>(bytes_of(points)) > points_.bytes()) continue;
        for (Row& row : ratio(points, queries, harness)) all.push_back(std::move(row));
      }
    return all;
  }

  void conclude(std::vector<Row>& rows) const {
    double copy_ms = kUnlimited;
    double tile_ms = 0;
    for (const Row& row : rows) {
      if (row.timed() && row.contender.starts_with("plain copy")) copy_ms = std::min(copy_ms, row.median_ms());
      if (row.timed() && row.contender == "search of one tile") tile_ms = row.median_ms();
    }
    const std::int64_t tiles = (base_.rows + plan_.base_tile - 1) / plan_.base_tile;
    const double alone_ms = tile_ms * static_cast<double>(tiles);
    for (Row& row : rows) {
      if (!row.timed() || !row.contender.starts_with("search, ") || copy_ms == kUnlimited) continue;
      const double ms = row.median_ms();
      const double ratio = ms / copy_ms;
      // Of the shorter of copying and searching, the part that was hidden behind the other.
      const double overlap = (copy_ms + alone_ms - ms) / std::min(copy_ms, alone_ms);
      row.facts.update({{"copy_ms", copy_ms}, {"search_alone_ms", alone_ms}, {"ratio_to_copy", ratio}});
      row.facts["overlap"] = overlap;
      row.note =
          fmt::format("{:8.2f} GB/s, {:.2f} overlapped", static_cast<double>(bytes_of(base_)) / ms * 1e-6, overlap);
      if (!quick_) row.bar = Bar{fmt::format("≤ {:g} × the copy", kBar), fmt::format("{:.3f}", ratio), ratio <= kBar};
    }
  }

 private:
  // Where the system does not let so much be pinned, what needs it is left out.
  bool pin(Row& row) {
    try {
      points_.pin();
      return true;
    } catch (const Error& error) {
      row.status = Status::skipped;
      row.reason = error.what();
      return false;
    }
  }

  Row row_of(const std::string& contender) const {
    Row row;
    row.problem = fmt::format("{} × {} × {}, k {}", queries_.rows, base_.rows, kDims, kNeighbors);
    row.contender = contender;
    row.facts = {{"queries", queries_.rows},
                 {"base_rows", base_.rows},
                 {"dims", kDims},
                 {"k", kNeighbors},
                 {"base_tile", plan_.base_tile},
                 {"budget_bytes", budget_},
                 {"distance", kith::to_string(plan_.distance)}};
    return row;
  }

  Contender search(const std::string& name, const MatrixView<float>& base, const Options& options) {
    Contender contender;
    contender.row = row_of(name);
    const auto index = std::make_shared<Index<float>>(base, options);
    contender.run = [this, index] { found_ = index->search(queries_, kNeighbors); };
    contender.check = [this](bool) { return fault(); };
    return contender;
  }

  // Some queries of the first answer against a plain scan, all of later ones against the first.
  std::string fault() {
    if (!answer_.ids.empty())
      return found_.ids == answer_.ids && found_.distances == answer_.distances ? "" : "another answer than the first";
    answer_ = found_;
    const MatrixView<float> some = spread_rows(queries_, 4);
    Answer answer{some.rows, kNeighbors, {}, {}};
    for (std::int64_t q = 0; q < some.rows; ++q) {
      const auto ids = found_.ids_of(q * some.row_stride / kDims);
      const auto distances = found_.distances_of(q * some.row_stride / kDims);
      answer.ids.insert(answer.ids.end(), ids.begin(), ids.end());
      answer.distances.insert(answer.distances.end(), distances.begin(), distances.end());
    }
    Question<float> question{base_, some, kNeighbors};
    question.threads = all_threads();
    question.work = kUnlimited;
    return Oracle<float>(question, MetricKind::sqeuclidean).judge_exact(answer).fault;
  }

  // Search over transfer, both ways; the points are pinned.
  static std::vector<Row> ratio(const MatrixView<float>& all, std::int64_t queries, Harness& harness) {
    const cuda::Stream& stream = harness.stream();
    const std::int64_t rows = all.rows - queries;
    cuda::DeviceBuffer<float> there(static_cast<std::size_t>(all.rows * all.cols), stream);
    cuda::DeviceBuffer<float> distances(static_cast<std::size_t>(queries * kNeighbors), stream);
    cuda::DeviceBuffer<std::int64_t> ids(distances.size(), stream);
    cuda::PinnedBuffer<float> host_distances(distances.size());
    cuda::PinnedBuffer<std::int64_t> host_ids(ids.size());
    const auto transfer = [&] {
      KITH_CUDA(cudaMemcpyAsync(there.data(), all.data, bytes_of(all), cudaMemcpyHostToDevice, stream));
      KITH_CUDA(cudaMemcpyAsync(host_distances.data(), distances.data(), distances.size() * sizeof(float),
                                cudaMemcpyDeviceToHost, stream));
      KITH_CUDA(cudaMemcpyAsync(host_ids.data(), ids.data(), ids.size() * sizeof(std::int64_t), cudaMemcpyDeviceToHost,
                                stream));
      stream.synchronize();
    };
    transfer();  // what is searched
    const auto base = MatrixView<float>::on_device(there.data(), rows, all.cols);
    const auto asked = MatrixView<float>::on_device(there.data() + rows * all.cols, queries, all.cols);
    const Index<float> index(base, options_with(0), stream);
    Row row;
    row.problem = fmt::format("{} × {} × {}, k {}", queries, rows, all.cols, kNeighbors);
    row.facts = {{"queries", queries}, {"base_rows", rows}, {"dims", all.cols}, {"k", kNeighbors}};
    Contender carry{row, transfer};
    Contender search{row, [&] {
                       index.search_into(asked, kNeighbors, {ids.data(), distances.data(), Memory::device}, stream);
                       stream.synchronize();
                     }};
    carry.row.contender = "transfer";
    search.row.contender = "search";
    std::vector<Row> raced = harness.race({std::move(carry), std::move(search)}, kRules);
    const double ratio = raced[1].median_ms() / raced[0].median_ms();
    raced[1].facts["ratio_to_transfer"] = ratio;
    raced[1].note = fmt::format("{:.3f} of the transfer", ratio);
    return raced;
  }

  std::int64_t queries_count_;
  std::int64_t budget_;
  HostPoints points_;
  MatrixView<float> base_;
  MatrixView<float> queries_;
  bool quick_;
  Plan plan_;
  Neighbors<float> found_;
  Neighbors<float> answer_;  // the first
};

}  // namespace

Suite stream_suite(const Settings& settings) {
  const std::int64_t bytes = settings.quick ? 1'000'000 : settings.stream_bytes;
  const std::string what = fmt::format("{:.1f} GB of points", static_cast<double>(bytes) * 1e-9);
  const auto streamed = std::make_shared<std::unique_ptr<Streamed>>();  // made by the first case that runs
  const auto of = [=](auto member) {
    return [=](Harness& harness) {
      if (!*streamed) *streamed = std::make_unique<Streamed>(bytes, settings.quick);
      return ((**streamed).*member)(harness);
    };
  };
  Suite suite{"search/stream", "a base that is streamed from the host", "", {}, nullptr, {}};
  suite.cases = {{"", what, "staging by threads and buffers", of(&Streamed::staging)},
                 {"", what, "search of pageable memory, of one tile, plain copy", of(&Streamed::pageable)},
                 {"", what, "search of pinned memory, plain copy", of(&Streamed::pinned)},
                 {"Hanák, Figure 5.14", what, "search over transfer", of(&Streamed::ratios)}};
  suite.conclude = [=](Harness& harness) {
    if (*streamed) (*streamed)->conclude(harness.rows);
  };
  return suite;
}

}  // namespace kith::bench::device::search

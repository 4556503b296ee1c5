// bits.cpp: searches of packed bits: arguments are checked, a backend plans and searches.
#include "kith/bits.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "api/guard.hpp"
#include "api/validate.hpp"
#include "backend/bits.hpp"
#include "backend/machine.hpp"
#include "backend/registry.hpp"
#include "core/bit_key.hpp"
#include "core/order.hpp"
#include "core/periodic.hpp"

namespace kith {

struct BitIndex::State {
  State(const BitsView& base, BitMetric metric, Options options);
  State(std::vector<std::uint8_t>&& bytes, std::int64_t bits, BitMetric metric, Options options);

  std::vector<std::uint8_t> owned;  // where the base is the index's own
  BitsView base;
  BitMetric metric;
  Options options;
  plan::Machine machine;
  std::unique_ptr<backend::BackendBitIndex> index;

 private:
  void prepare();
};

namespace {

void check_bits(std::int64_t bits) {
  if (bits < 1 || bits > core::kMostBits)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("rows of {} bits; 1 to {} are allowed", bits, core::kMostBits));
}

// Rows that can be addressed.
void check_extent(const BitsView& view, const char* role) {
  check_bits(view.bits);
  if (view.rows < 1)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} of {} rows; at least one is needed", role, view.rows));
  if (view.data == nullptr)
    throw Error(ErrorCode::invalid_argument, fmt::format("{} has no data (null pointer)", role));
  if (view.stride < 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has a stride of {} bytes; it must not be negative", role, view.stride));
  std::int64_t extent = 0;
  if (__builtin_mul_overflow(view.rows - 1, view.stride, &extent) ||
      __builtin_add_overflow(extent, bit_bytes(view.bits), &extent))
    throw Error(ErrorCode::invalid_argument, fmt::format("{} of {} rows with a stride of {} bytes exceeds the address "
                                                         "space",
                                                         role, view.rows, view.stride));
}

// Bits of a last byte that no row has.
void check_last_bytes(const BitsView& view, const char* role) {
  if (view.bits % 8 == 0) return;
  const std::int64_t at = bit_bytes(view.bits) - 1;
  const int past = 0xFF >> (view.bits % 8);
  for (std::int64_t row = 0; row < view.rows; ++row)
    if ((view.row(row)[at] & past) != 0)
      throw Error(ErrorCode::bad_data,
                  fmt::format("{} {} has a bit set past its {} bits: the last byte is {:#04x}, of which the {} highest "
                              "are of the row",
                              role, row, view.bits, view.row(row)[at], view.bits % 8));
}

// What only other searches can follow is refused, not passed over.
void check_other_options(const Options& options) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorCode::invalid_argument, what + ", which searches of packed bits do not have");
  };
  if (!(options.metric == Metric()))
    refuse(fmt::format("options have metric {} besides hamming or jaccard", to_string(options.metric)));
  if (options.method != Method::automatic && options.method != Method::brute)
    refuse(fmt::format("method {} was asked for", to_string(options.method)));
  if (options.distance != DistanceStage::automatic)
    refuse(fmt::format("distance stage {} was asked for", to_string(options.distance)));
  if (options.select != SelectMethod::automatic)
    refuse(fmt::format("selection {} was asked for", to_string(options.select)));
  if (options.epsilon != 0) refuse(fmt::format("epsilon = {} was asked for", options.epsilon));
  if (core::is_periodic(options.period)) refuse("periodic axes were asked for");
}

// The rows of a call, and what is wanted of them.
struct Asked {
  BitsView queries;
  bool self = false;  // the queries are the base
};

void check_queries(const BitsView& base, const Asked& asked, const Options& options) {
  if (asked.self) return;
  check_extent(asked.queries, "queries");
  if (asked.queries.bits != base.bits)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the base has rows of {} bits but the queries of {}", base.bits, asked.queries.bits));
  if (options.check_finite) check_last_bytes(asked.queries, "query");
}

void check_count(const BitsView& base, std::int64_t queries, std::int64_t k, bool self, const Options& options) {
  if (!options.pad_missing || k < 1) {
    api::check_k(k, self ? base.rows - 1 : base.rows,
                 self ? "the number of other rows is" : "the number of base rows is");
  }
  api::check_sizes(queries, base.rows, k);
}

// Calls work(report) and adds the time.
template <class Work>
BitReport timed(Work work) {
  return api::guarded([&] {
    const auto start = std::chrono::steady_clock::now();
    BitReport report;
    work(report);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
  });
}

template <class State>
BitReport search_neighbors_into(const State& state, const Asked& asked, std::int64_t k,
                                const NeighborsView<float>& out) {
  return timed([&](BitReport& report) {
    check_queries(state.base, asked, state.options);
    check_count(state.base, asked.queries.rows, k, asked.self, state.options);
    if (out.memory == Memory::device)
      throw Error(ErrorCode::invalid_argument, "an answer on a device; those of packed bits go to host memory");
    api::check_outputs(out.ids, out.distances);
    api::check_certified(state.options, out.certified);
    report.plan = state.index->plan(asked.queries.rows, k, asked.self);
    report.candidates = state.index->search(report.plan, {asked.queries, state.options.progress}, out);
  });
}

template <class State>
BitNeighbors search_neighbors(const State& state, const Asked& asked, std::int64_t k) {
  return api::guarded([&] {
    check_queries(state.base, asked, state.options);
    check_count(state.base, asked.queries.rows, k, asked.self, state.options);
    api::check_output(asked.queries.rows, k, sizeof(std::int64_t) + sizeof(float));
    BitNeighbors found;
    found.queries = asked.queries.rows;
    found.k = k;
    found.ids.resize(static_cast<std::size_t>(found.queries * k));
    found.distances.resize(found.ids.size());
    found.report = search_neighbors_into(state, asked, k, {found.ids.data(), found.distances.data()});
    return found;
  });
}

core::RadiusQuery<float> checked_radii(std::span<const float> radii, std::int64_t queries) {
  const auto count = static_cast<std::int64_t>(radii.size());
  if (count != 1 && count != queries)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} radii for {} queries; one for all or one for each is needed", count, queries));
  core::RadiusQuery<float> query;
  for (const float radius : radii) {
    if (!(radius >= 0))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("radius = {} of query {}; it must be 0 or more", radius, query.keys.size()));
    query.keys.push_back(radius);
  }
  return query;
}

template <class State>
BitRadiusNeighbors search_within(const State& state, const Asked& asked, std::span<const float> radii,
                                 RadiusOutput output) {
  BitRadiusNeighbors found;
  BitReport done = timed([&](BitReport& report) {
    check_queries(state.base, asked, state.options);
    api::check_sizes(asked.queries.rows, state.base.rows, 1);
    if (std::isfinite(state.options.max_distance))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("max_distance = {} is for the k nearest; a radius search has its radius",
                              state.options.max_distance));
    core::RadiusQuery<float> query = checked_radii(radii, asked.queries.rows);
    query.count_only = output == RadiusOutput::count_only;
    query.exclude_self = asked.self;
    // Hits while they are collected, beside the result that they are put into.
    query.max_hits = backend::free_memory().bytes /
                     static_cast<std::int64_t>(sizeof(core::Hit<float>) + sizeof(std::int64_t) + sizeof(float));
    found.queries = asked.queries.rows;
    found.offsets.resize(static_cast<std::size_t>(found.queries) + 1);
    const auto allocate = [&](std::int64_t count) {
      found.ids.resize(static_cast<std::size_t>(count));
      found.distances.resize(found.ids.size());
      return NeighborsView<float>{found.ids.data(), found.distances.data()};
    };
    report.plan = state.index->plan(asked.queries.rows, 0, asked.self);
    report.candidates = state.index->search_radius(report.plan, {asked.queries, state.options.progress}, query,
                                                   {found.offsets.data(), allocate});
  });
  found.report = std::move(done);
  return found;
}

}  // namespace

BitIndex::State::State(const BitsView& base_, BitMetric metric_, Options options_)
    : base(base_), metric(metric_), options(std::move(options_)) {
  prepare();
}

BitIndex::State::State(std::vector<std::uint8_t>&& bytes, std::int64_t bits, BitMetric metric_, Options options_)
    : owned(std::move(bytes)), metric(metric_), options(std::move(options_)) {
  check_bits(bits);
  const std::int64_t row = bit_bytes(bits);
  const auto size = static_cast<std::int64_t>(owned.size());
  if (size % row != 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} bytes are no whole number of rows of {} bytes, which {} bits take", size, row, bits));
  base = BitsView(owned.data(), size / row, bits);
  prepare();
}

void BitIndex::State::prepare() {
  check_extent(base, "base");
  check_other_options(options);
  const Backend asked = options.backend;
  api::refuse_devices(options, "packed bits");
  options.backend = api::check_options(options);
  if (options.check_finite) check_last_bytes(base, "base row");
  machine = backend::machine_of(options.backend, asked);
  index = backend::make_bit_index({base, metric, options, machine});
}

BitIndex::BitIndex(BitsView base, BitMetric metric, Options options)
    : state_(api::guarded([&] { return std::make_unique<State>(base, metric, std::move(options)); })) {}

BitIndex::BitIndex(std::vector<std::uint8_t> bytes, std::int64_t bits, BitMetric metric, Options options)
    : state_(
          api::guarded([&] { return std::make_unique<State>(std::move(bytes), bits, metric, std::move(options)); })) {}

BitIndex::BitIndex(BitIndex&&) noexcept = default;
BitIndex& BitIndex::operator=(BitIndex&&) noexcept = default;
BitIndex::~BitIndex() = default;

auto BitIndex::state() const -> const State& {
  if (state_ == nullptr) throw Error(ErrorCode::invalid_argument, "this index has no rows any more: it was moved from");
  return *state_;
}

std::int64_t BitIndex::rows() const {
  return state().base.rows;
}
std::int64_t BitIndex::bits() const {
  return state().base.bits;
}
BitMetric BitIndex::metric() const {
  return state().metric;
}
const Options& BitIndex::options() const {
  return state().options;
}

BitNeighbors BitIndex::search(BitsView queries, std::int64_t k) const {
  return search_neighbors(state(), {queries}, k);
}

BitReport BitIndex::search_into(BitsView queries, std::int64_t k, NeighborsView<float> out) const {
  return search_neighbors_into(state(), {queries}, k, out);
}

BitNeighbors BitIndex::search_self(std::int64_t k) const {
  return search_neighbors(state(), {state().base, true}, k);
}

BitReport BitIndex::search_self_into(std::int64_t k, NeighborsView<float> out) const {
  return search_neighbors_into(state(), {state().base, true}, k, out);
}

BitRadiusNeighbors BitIndex::search_radius(BitsView queries, std::span<const float> radii, RadiusOutput output) const {
  return search_within(state(), {queries}, radii, output);
}

BitRadiusNeighbors BitIndex::search_radius_self(std::span<const float> radii, RadiusOutput output) const {
  return search_within(state(), {state().base, true}, radii, output);
}

BitPlan BitIndex::explain(std::int64_t queries, std::int64_t k) const {
  return api::guarded([&] {
    if (queries < 1)
      throw Error(ErrorCode::invalid_argument, fmt::format("{} queries; at least one is needed", queries));
    check_count(state().base, queries, k, false, state().options);
    return state().index->plan(queries, k, false);
  });
}

BitNeighbors search_bits(BitsView base, BitsView queries, std::int64_t k, BitMetric metric, const Options& options) {
  return BitIndex(base, metric, options).search(queries, k);
}

BitReport search_bits_into(BitsView base, BitsView queries, std::int64_t k, NeighborsView<float> out, BitMetric metric,
                           const Options& options) {
  return BitIndex(base, metric, options).search_into(queries, k, out);
}

}  // namespace kith

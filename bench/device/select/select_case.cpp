#include "device/select/select_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "device/select/inspect.hpp"
#include "device/select/methods.hpp"
#include "device/select/truth.hpp"

namespace kith::bench::device::select {
namespace {

constexpr unsigned kSeed = 1;
constexpr MatrixShape kLargest = {2048, 1U << 20};

// How long an entry will take, from what smaller ones took.
class History {
 public:
  void add(const MatrixShape& shape, const Entry& entry, double ms) { past_.push_back({shape, entry, ms}); }

  // 0 when nothing is known. Times are taken to grow with k, with the rows' length and with their number, from the past
  // entry of the same variant with the nearest k below, and of those the nearest length.
  double estimate_ms(const MatrixShape& shape, const Entry& entry) const {
    const Past* nearest = nullptr;
    for (const Past& past : past_) {
      const bool comparable = past.entry.variant.label == entry.variant.label && past.entry.sorted == entry.sorted &&
                              past.shape.pattern == shape.pattern;
      if (!comparable || past.entry.k > entry.k || past.shape.length > shape.length) continue;
      if (nearest == nullptr ||
          std::tie(past.entry.k, past.shape.length) >= std::tie(nearest->entry.k, nearest->shape.length))
        nearest = &past;
    }
    if (nearest == nullptr) return 0;
    const double deeper = static_cast<double>(entry.k) / nearest->entry.k;
    const double longer = static_cast<double>(shape.length) / nearest->shape.length;
    const double more = static_cast<double>(shape.rows) / static_cast<double>(nearest->shape.rows);
    return nearest->ms * deeper * longer * std::max(more, 1.0);
  }

 private:
  struct Past {
    MatrixShape shape;
    Entry entry;
    double ms;
  };
  std::vector<Past> past_;
};

Json facts_of(const MatrixShape& shape, unsigned k) {
  return {{"rows", shape.rows}, {"length", shape.length}, {"pattern", to_string(shape.pattern)}, {"k", k}};
}

// Options that differ from the method's own choice.
Json tuning_json(const SelectTuning& tuning) {
  const SelectTuning plain;
  Json json = Json::object();
  const auto put = [&](const char* name, auto member) {
    if (tuning.*member != plain.*member) json[name] = tuning.*member;
  };
  put("buffered", &SelectTuning::buffered);
  put("full_buffer_vote", &SelectTuning::full_buffer_vote);
  put("local_sort", &SelectTuning::local_sort);
  put("hierarchical", &SelectTuning::hierarchical);
  put("aligned", &SelectTuning::aligned);
  put("thread_queue", &SelectTuning::thread_queue);
  put("stages", &SelectTuning::stages);
  put("partitions", &SelectTuning::partitions);
  put("scattered", &SelectTuning::scattered);
  put("transposed", &SelectTuning::transposed);
  constexpr const char* kGroups[] = {"automatic", "thread", "warp", "block"};
  if (tuning.group != plain.group) json["group"] = kGroups[static_cast<int>(tuning.group)];
  return json;
}

// A case while it runs.
class SelectRun {
 public:
  SelectRun(const SelectCase& one, History& history, Harness& harness)
      : case_(one), history_(history), harness_(harness), matrix_(harness.stream()), inspector_(harness.stream()) {
    unsigned largest_k = 0;
    for (const Entry& entry : one.entries) largest_k = std::max(largest_k, entry.k);
    matrix_.fill(one.shape, kSeed);
    answer_.reserve(static_cast<std::size_t>(one.shape.rows) * largest_k, harness.stream());
    truth_.emplace(matrix_, largest_k);
  }

  std::vector<Row> rows() {
    std::vector<Contender> contenders;
    for (const Entry& entry : case_.entries) contenders.push_back(contender(entry));
    if (case_.reads)
      for (const Ceiling& read : read_ceilings(matrix_.data(), case_.shape.values(), harness_.stream()))
        contenders.push_back({Row(), read.run});
    RaceRules rules;
    rules.rounds = case_.rounds;
    rules.budget_ms = case_.budget_ms;
    rules.enqueues_only = true;
    if (case_.fresh_data)
      rules.new_round = [this](int round) { matrix_.fill(case_.shape, kSeed + 1 + static_cast<unsigned>(round)); };
    std::vector<Row> rows = harness_.race(std::move(contenders), rules);

    double read_ms = kUnlimited;
    for (std::size_t i = case_.entries.size(); i < rows.size(); ++i) read_ms = std::min(read_ms, rows[i].median_ms());
    rows.resize(case_.entries.size());
    for (std::size_t i = 0; i < rows.size(); ++i) conclude(rows[i], case_.entries[i].goal, read_ms);
    return rows;
  }

 private:
  Contender contender(const Entry& entry) {
    Contender contender;
    Row& row = contender.row;
    row.problem = fmt::format("{} k {}{}", describe(case_.shape), entry.k, entry.sorted ? "" : " unsorted");
    row.contender = entry.variant.label;
    row.facts = facts_of(case_.shape, entry.k);
    row.facts["form"] = entry.sorted ? "sorted" : "unsorted";
    row.facts["method"] = entry.variant.method;
    if (entry.variant.method == "auto") row.facts["chosen"] = chosen_method(case_.shape, entry.k, entry.sorted);
    if (const Json tuning = tuning_json(entry.variant.tuning); !tuning.empty()) row.facts["tuning"] = tuning;
    contender.run = make_selection(entry, matrix_, answer_, harness_.stream());
    // Ids of −1 and values of NaN: whoever writes nothing is found out.
    contender.prepare = [this, count = static_cast<std::size_t>(case_.shape.rows) * entry.k] {
      KITH_CUDA(cudaMemsetAsync(answer_.values.data(), 0xFF, count * sizeof(float), harness_.stream()));
      KITH_CUDA(cudaMemsetAsync(answer_.ids.data(), 0xFF, count * sizeof(std::int64_t), harness_.stream()));
    };
    // On the device for all rows, of the first answer on the host for a few.
    contender.check = [this, &entry](bool first) {
      const std::string fault = inspector_.fault(matrix_, answer_, entry.k, entry.sorted);
      return fault.empty() && first ? truth_->fault(answer_, entry.k, entry.sorted) : fault;
    };
    contender.expected_ms = [this, &entry] { return history_.estimate_ms(case_.shape, entry); };
    // At least what it would have taken in a warm workspace.
    contender.first_done = [this, &entry](const Timing& first) {
      history_.add(case_.shape, entry, std::max(first.ms - first.enqueue_ms, 1e-3));
    };
    return contender;
  }

  void conclude(Row& row, const Goal& goal, double read_ms) const {
    const bool asked = goal.fraction > 0 || goal.ms > 0 || goal.times_random > 0;
    if (row.status != Status::timed) {
      if (asked) row.bar = Bar{"", "not timed", false};
      return;
    }
    const double rate = static_cast<double>(case_.shape.values() * sizeof(float)) / row.median_ms() * 1e-9;
    const double fraction = rate / harness_.best_rate("read");
    row.facts["tb_per_s"] = rate;
    row.facts["read_fraction"] = fraction;
    if (case_.reads) row.facts["same_bytes_read_ms"] = read_ms;
    row.note = fmt::format("{:6.3f} TB/s {:6.3f} R", rate, fraction);
    if (goal.times_random > 0)
      row.bar = against_random(row, goal.times_random);
    else if (goal.ms > 0)
      row.bar = bar_ms(goal.ms, row);
    else if (goal.fraction > 0)
      row.bar =
          Bar{fmt::format("≥ {:.2f} R", goal.fraction), fmt::format("{:.3f} R", fraction), fraction >= goal.fraction};
  }

  Bar against_random(const Row& row, double limit) const {
    Bar bar{fmt::format("≤ {:g} × random", limit), "random rows not timed", false};
    Json facts = facts_of(case_.shape, row.facts["k"]);
    facts["pattern"] = to_string(Pattern::random);
    for (const Row& other : harness_.rows) {
      if (!other.timed() || other.contender != row.contender) continue;
      if (!std::all_of(facts.items().begin(), facts.items().end(),
                       [&](const auto& fact) { return other.facts[fact.key()] == fact.value(); }))
        continue;
      bar.ok = row.median_ms() <= limit * other.median_ms();
      bar.reached = fmt::format("{:.2f}", row.median_ms() / other.median_ms());
    }
    return bar;
  }

  const SelectCase& case_;
  History& history_;
  Harness& harness_;
  DeviceMatrix matrix_;
  DeviceAnswer answer_;
  Inspector inspector_;
  std::optional<Truth> truth_;
};

Row count(const UpdateCount& count, Harness& harness) {
  Row row;
  row.problem = describe(count.shape) + fmt::format(" k {}", count.k);
  row.contender = "updates of the " + count.queue + " queue";
  row.facts = facts_of(count.shape, count.k);
  row.facts["queue"] = count.queue;
  row.status = Status::counted;
  DeviceMatrix matrix(harness.stream());
  matrix.fill(count.shape, kSeed);
  std::vector<double> updates;
  for (const unsigned long long slot : count_updates(count.queue, count.k, matrix, harness.stream()))
    updates.push_back(static_cast<double>(slot) / static_cast<double>(count.shape.rows));
  row.facts["updates_a_row"] = updates;
  return row;
}

std::vector<Ceiling> select_ceilings(bool quick, const cuda::Stream& stream) {
  const auto matrix = std::make_shared<DeviceMatrix>(stream);
  matrix->fill(quick ? MatrixShape{16, 1024} : kLargest, kSeed);
  std::vector<Ceiling> ceilings = read_ceilings(matrix->data(), matrix->shape().values(), stream);
  for (Ceiling& ceiling : ceilings) ceiling.run = [run = std::move(ceiling.run), matrix] { run(); };
  return ceilings;
}

void shrink(SelectCase& one) {
  one.shape.rows = std::min<std::int64_t>(one.shape.rows, 8);
  one.shape.length = std::min(one.shape.length, 1U << 12);
  for (Entry& entry : one.entries) {
    entry.k = std::min(entry.k, one.shape.length / 4);
    entry.goal = {};
  }
}

// Labels by k. Throws for a method that does not exist.
std::string names(const SelectCase& one) {
  std::map<unsigned, std::string> labels;
  for (const Entry& entry : one.entries) {
    if (!is_method(entry.variant.method))
      throw std::logic_error(fmt::format("there is no method {}", entry.variant.method));
    std::string& text = labels[entry.k];
    text += (text.empty() ? "" : ", ") + entry.variant.label + (entry.sorted ? "" : " unsorted");
  }
  std::string text;
  for (const auto& [k, label] : labels) text += fmt::format("\n    k = {}: {}", k, label);
  return text;
}

}  // namespace

const char* to_string(Pattern pattern) {
  switch (pattern) {
    case Pattern::random: return "random";
    case Pattern::descending: return "descending";
    case Pattern::equal: return "all-equal";
    case Pattern::smooth: return "smooth";
  }
  return "";
}

std::string describe(const MatrixShape& shape) {
  return fmt::format("{} × {} {}", shape.rows, shape.length, to_string(shape.pattern));
}

Suite make_suite(const std::string& name, const std::string& what, const std::string& left_out,
                 const std::vector<SelectCase>& cases, const std::vector<UpdateCount>& counts,
                 const Settings& settings) {
  Suite suite{"select/" + name, what, left_out, {.rounds = 50, .budget_ms = 100, .slow_ms = 300, .skip_ms = 2000},
              select_ceilings,  {}};
  for (const UpdateCount& one : counts)
    suite.cases.push_back({"Figure 5", describe(one.shape), fmt::format("updates of {} queue, k {}", one.queue, one.k),
                           [one](Harness& harness) { return std::vector<Row>{count(one, harness)}; }});
  const auto history = std::make_shared<History>();
  for (SelectCase one : cases) {
    if (settings.quick) shrink(one);
    std::erase_if(one.entries, [&](const Entry& entry) {
      return !settings.contender.empty() && entry.variant.label != settings.contender;
    });
    suite.cases.push_back({one.figure, describe(one.shape), names(one),
                           [one, history](Harness& harness) { return SelectRun(one, *history, harness).rows(); }});
  }
  return suite;
}

}  // namespace kith::bench::device::select

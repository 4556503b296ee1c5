// Options that several commands have, and what they stand for in the library.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "kith/io.hpp"
#include "kith/named_metric.hpp"
#include "kith/options.hpp"

namespace kith::cli {

inline constexpr const char* kShiftedSortGroup = "Method shifted-sort";  // of options, in --help

// --metric … --no-check-finite
struct SearchSettings {
  std::string metric = "euclidean";
  std::optional<double> p;
  Method method = Method::automatic;
  Backend backend = Backend::automatic;
  DistanceStage distance = DistanceStage::automatic;
  SelectMethod select = SelectMethod::automatic;
  double max_distance = std::numeric_limits<double>::infinity();
  double epsilon = 0;
  std::vector<double> period;
  int threads = 0;
  std::int64_t memory = 0;
  std::vector<int> devices;
  bool no_check_finite = false;
  TriangleTuning triangle;
  bool no_remap = false;
  ShiftedSortTuning shifted_sort;

  std::optional<ZeroVectors> zero_vectors;  // of cosine

  // Whether the metric is a formula.
  bool has_formula() const;
  // What options have no metric for: a formula, or cosine with a distance for zero vectors. Else null.
  std::shared_ptr<const PairMetric> own_metric() const;
  Options options() const;
};

// `formulas`: whether --metric may be one.
void add_search_options(CLI::App& command, Context& context, SearchSettings& settings, bool formulas = false);
// --max-distance says which neighbors are wanted; --epsilon, which only add_limits has too, how exactly.
void add_max_distance(CLI::App& command, SearchSettings& settings);
void add_limits(CLI::App& command, SearchSettings& settings);
void add_period(CLI::App& command, SearchSettings& settings);
void add_k(CLI::App& command, std::int64_t& k, const std::string& description);
void add_threads(CLI::App& command, int& threads);
void add_memory(CLI::App& command, std::int64_t& memory);
// --backend: one of those of this build that can do something.
std::vector<Backend> searching_backends();
std::vector<Backend> selecting_backends();
void add_backend(CLI::App& command, Context& context, Backend& backend, const std::vector<Backend>& able);
// --method of topk.
void add_select_method(CLI::App& command, Context& context, SelectMethod& method);
CLI::Option* add_dtype(CLI::App& command, Context& context, std::string& dtype, const std::vector<std::string>& names,
                       const std::string& description);

// --explain and --stats
struct ReportSettings {
  bool explain = false;
  bool stats = false;
};

void add_report_options(CLI::App& command, ReportSettings& settings);

// --format, --columns, --header: how input files are read.
struct InputSettings {
  std::string format = "auto";
  std::vector<std::string> columns;
  std::string header = "auto";

  io::LoadOptions load_options(std::string array, std::vector<std::string> default_arrays) const;
};

CLI::Option* add_format(CLI::App& command, Context& context, const std::string& option_name, std::string& format,
                        const std::string& description);
void add_input_options(CLI::App& command, Context& context, InputSettings& settings);

// --output, --output-format, --compress: where the answer goes.
struct OutputSettings {
  std::string output;
  std::string format = "auto";
  bool compress = false;

  bool to_stdout() const { return output.empty() || output == "-"; }
  // Whether the answer is printed for people (or as JSON) because it goes to stdout and no format was asked for.
  bool as_text() const { return to_stdout() && format == "auto"; }
  // The file, or stdout, with what goes into it.
  io::Output with(io::NamedArrays arrays) const;
  io::Output with(const std::string& path, io::NamedArrays arrays) const;
};

void add_output_options(CLI::App& command, Context& context, OutputSettings& settings, const std::string& formats);

}  // namespace kith::cli

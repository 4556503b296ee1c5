#include "cli/packed_bits.hpp"

#include <fmt/format.h>

#include <vector>

#include "cli/message.hpp"
#include "cli/progress.hpp"
#include "cli/signals.hpp"
#include "cli/sizes.hpp"
#include "kith/error.hpp"

namespace kith::cli {
namespace {

// PackedRows of bytes as the library takes them, copied where those of a row are not next to each other.
class PackedRows {
 public:
  PackedRows(const std::string& what, const io::Array& array, std::int64_t bits) {
    if (array.type() != io::ElementType::uint8)
      throw Error(ErrorCode::invalid_argument, fmt::format("--packed-bits but {} has elements of {}; packed bits are "
                                                           "uint8",
                                                           what, to_string(array.type())));
    const MatrixView<std::uint8_t> bytes = array.view<std::uint8_t>();
    if (bytes.cols != bit_bytes(bits))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--packed-bits {} takes rows of {} bytes; those of {} have {}", bits, bit_bytes(bits),
                              what, bytes.cols));
    view_ = {bytes.data, bytes.rows, bits, bytes.row_stride};
    if (bytes.cols > 1 && bytes.col_stride != 1) copy(bytes);
  }

  const BitsView& view() const { return view_; }

 private:
  void copy(const MatrixView<std::uint8_t>& bytes) {
    for (std::int64_t row = 0; row < bytes.rows; ++row)
      for (std::int64_t at = 0; at < bytes.cols; ++at) copied_.push_back(bytes(row, at));
    view_ = {copied_.data(), bytes.rows, view_.bits};
  }

  std::vector<std::uint8_t> copied_;
  BitsView view_;
};

std::int64_t row_bits_of(const std::string& text, const io::Array& base) {
  return text == "auto" ? 8 * base.cols() : std::stoll(text);
}

Options packed_options(SearchSettings settings) {
  settings.metric = "euclidean";  // the library's default: the metric of bits is another argument
  return settings.options();
}

}  // namespace

void add_packed_bits(CLI::App& command, std::string& bits) {
  const auto check = [](const std::string& text) { return text == "auto" ? std::string() : check_integer(text, 1); };
  command
      .add_option("--packed-bits", bits,
                  "The files are of uint8 and hold N bits a row, eight in a byte, the first the highest; auto: all of\n"
                  "their bytes")
      ->type_name("N|auto")
      ->check(CLI::Validator(check, ""))
      ->group("Search");
}

BitNeighbors PackedSearch::run(const io::Array& base, const io::Array* queries, bool explain) const {
  const std::int64_t row_bits = row_bits_of(bits, base);
  const PackedRows rows("the base", base, row_bits);
  Options options = packed_options(settings);
  const InterruptScope scope;
  ProgressBar bar("searching", "distances");
  options.progress = bar.callback();
  const BitIndex index(rows.view(), parse_bit_metric(metric), options);
  if (queries == nullptr) {
    if (explain) print_to_stderr(to_string(index.explain(base.rows(), k)));
    BitNeighbors found = index.search_self(k);
    throw_if_interrupted();
    return found;
  }
  const PackedRows asked("queries", *queries, row_bits);
  if (explain) print_to_stderr(to_string(index.explain(asked.view().rows, k)));
  BitNeighbors found = index.search(asked.view(), k);
  throw_if_interrupted();
  return found;
}

Json to_json(const BitPlan& plan) {
  return {{"problem", {{"base_rows", plan.base_rows}, {"queries", plan.queries}, {"bits", plan.bits}, {"k", plan.k}}},
          {"metric", to_string(plan.metric)},
          {"max_distance", plan.max_distance},  // infinity prints as null
          {"backend", to_string(plan.backend)},
          {"kernel", plan.kernel},
          {"threads", plan.threads},
          {"threads_reason", plan.threads_reason},
          {"query_block", plan.query_block},
          {"base_tile", plan.base_tile},
          {"base_splits", plan.base_splits},
          {"candidates", plan.candidates},
          {"workspace_bytes", plan.workspace_bytes},
          {"budget_bytes", plan.budget_bytes},
          {"seconds", plan.seconds},
          {"reason", plan.reason}};
}

Json to_json(const BitReport& report) {
  const auto queries = static_cast<double>(report.plan.queries);
  // Dividing by a time of zero gives an infinity, which prints as null.
  return {{"seconds", report.seconds},
          {"candidates", report.candidates},
          {"queries_per_second", queries / report.seconds},
          {"distances_per_second", queries * static_cast<double>(report.plan.base_rows) / report.seconds}};
}

std::string describe(const BitReport& report) {
  const BitPlan& plan = report.plan;
  const auto queries = static_cast<double>(plan.queries);
  return fmt::format("{} queries × {} rows × {} bits, k = {} in {}: {} queries/s, {} distances/s, {} candidates\n",
                     format_integer(plan.queries), format_integer(plan.base_rows), plan.bits, plan.k,
                     format_seconds(report.seconds), format_count(queries / report.seconds),
                     format_count(queries * static_cast<double>(plan.base_rows) / report.seconds),
                     format_integer(report.candidates));
}

}  // namespace kith::cli

#include "cpu/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "cpu/problem/data.hpp"

namespace kith::bench {
namespace {

constexpr double kGibibyte = 1024.0 * 1024 * 1024;
constexpr double kMebibyte = 1024.0 * 1024;

// "1.07", or nothing when there is no such ratio.
std::string format_ratio(double value) {
  return value > 0 ? fmt::format("{:.2f}", value) : "";
}

std::string ratio_to(const RowResult& result, const ContenderResult& contender, Kind kind) {
  const ContenderResult* other = result.find(kind);
  return other == nullptr ? "" : format_ratio(ratio(contender, *other));
}

std::string describe_answer(const RowResult& result, const ContenderResult& contender) {
  const Verdict& verdict = contender.verdict;
  switch (role_of(contender.kind)) {
    case Role::exact: return fmt::format("exact ({} of {} queries)", verdict.checked, result.row.queries);
    case Role::peer:
      return fmt::format("{}recall {:.5f}, error {:.0e}", verdict.inexact ? "INEXACT: " : "", verdict.recall,
                         verdict.error);
    case Role::approximate:
      return fmt::format("recall {:.4f}, ε mean {:.4f} p99 {:.3f} max {:.3f}", verdict.recall, verdict.ratios.mean,
                         verdict.ratios.p99, verdict.ratios.max);
    case Role::ceiling:
      return fmt::format("ceiling, {:.1f} {}", contender.work.amount / contender.median_ms() / 1e6,
                         contender.work.unit);
  }
  return {};
}

std::string format_contender(const RowResult& result, const ContenderResult& contender) {
  if (!contender.absent.empty()) return fmt::format("  {:<26}{}\n", contender.name, contender.absent);
  if (!contender.verdict.fault.empty())
    return fmt::format("  {:<26}WRONG ANSWER, not timed: {}\n", contender.name, contender.verdict.fault);
  const std::string note = contender.note.empty() ? "" : "; " + contender.note;
  const bool ceiling = role_of(contender.kind) == Role::ceiling;
  return fmt::format("  {:<26}{:>10.3f}{:>10.3f}{:>6}{:>10}{:>9}{:>9}{:>9}  {}{}\n", contender.name,
                     contender.median_ms(), contender.min_ms(), contender.samples_ms.size(),
                     ceiling ? "" : fmt::format("{:.1f}", contender.build_ms),
                     format_ratio(ratio(contender, result.contenders.front())), ratio_to(result, contender, Kind::gemm),
                     ratio_to(result, contender, Kind::read), describe_answer(result, contender), note);
}

// A read is a rate: the bar is a fraction of it.
std::string format_limit(const Bar& bar, DType dtype) {
  if (bar.against == Kind::read) return fmt::format("at least {:.0f} % of the read rate", 100 / bar.limit);
  if (bar.limit == 1.0) return fmt::format("ahead of {}", name_of(bar.against, dtype));
  return fmt::format("at most {:.2f} × {}", bar.limit, name_of(bar.against, dtype));
}

std::string format_bar(const RowSpec& row, const BarResult& bar) {
  const std::string limit = format_limit(bar.bar, row.dtype);
  if (!bar.judged) return fmt::format("  bar: {:<32} not judged\n", limit);
  const std::string value =
      bar.bar.against == Kind::read ? fmt::format("{:.0f} %", 100 / bar.ratio) : fmt::format("{:.3f}", bar.ratio);
  return fmt::format("  bar: {:<32} {:>7}  {}\n", limit, value, bar.ok() ? "ok" : "MISSED");
}

// "ok", "MISSED: at most 1.15 × sgemm" or what kept the bars from being judged.
std::string summarize_bars(const RowResult& result) {
  if (result.wrong()) return "WRONG ANSWER";
  std::vector<std::string> missed;
  bool unjudged = false;
  for (const BarResult& bar : result.bars) {
    if (!bar.judged)
      unjudged = true;
    else if (!bar.ok())
      missed.push_back(format_limit(bar.bar, result.row.dtype));
  }
  if (!missed.empty()) return fmt::format("MISSED: {}", fmt::join(missed, "; "));
  if (result.bars.empty()) return "none";
  return unjudged ? "ok where judged" : "ok";
}

}  // namespace

std::string format_header(const Json& environment, int threads, int rounds) {
  const auto text_of = [](const Json& value) { return value.is_null() ? "not installed" : value.get<std::string>(); };
  const auto bytes = [](const Json& value, double unit) { return value.get<double>() / unit; };
  const Json& machine = environment["machine"];
  const Json& libraries = environment["libraries"];
  std::string text = fmt::format("kith {}, commit {}, {}\n", text_of(environment["kith"]["version"]),
                                 text_of(environment["kith"]["commit"]), text_of(environment["compiler"]));
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}, {} of {} cores, {}, {:.0f} MiB cache, {:.1f} GiB memory\n", text_of(machine["cpu"]),
                 machine["usable_cores"].get<int>(), machine["cores"].get<int>(),
                 fmt::join(machine["simd_targets"].get<std::vector<std::string>>(), " "),
                 bytes(machine["cache_bytes"], kMebibyte), bytes(machine["memory_bytes"], kGibibyte));
  fmt::format_to(out, "{}; faiss {}; nanoflann {}\n", text_of(libraries["blas"]), text_of(libraries["faiss"]),
                 text_of(libraries["nanoflann"]));
  fmt::format_to(out, "threads {}, rounds {}, seeds {} (base) and {} (queries), {}\n", threads, rounds, kBaseSeed,
                 kQuerySeed, text_of(environment["date"]));
  if (!environment["optimized"].get<bool>()) text += "WARNING: built without optimization; the times mean nothing\n";
  return text;
}

std::string format_row(const RowResult& result) {
  std::string text;
  auto out = std::back_inserter(text);
  const bool has_read = result.find(Kind::read) != nullptr;
  fmt::format_to(out, "\n{}: {}\n", result.row.name, describe(result.row));
  fmt::format_to(out, "  {:<26}{:>10}{:>10}{:>6}{:>10}{:>9}{:>9}{:>9}  {}\n", "", "median ms", "min ms", "runs",
                 "build ms", "/ kith", "/ " + name_of(Kind::gemm, result.row.dtype), has_read ? "/ read" : "",
                 "answer");
  for (const ContenderResult& contender : result.contenders) text += format_contender(result, contender);
  for (const BarResult& bar : result.bars) text += format_bar(result.row, bar);
  if (result.busy())
    fmt::format_to(out, "  WARNING: threads waited for a core {:.0f} % of the time; do not trust these times\n",
                   100 * result.waited);
  return text;
}

std::string format_summary(const std::vector<RowResult>& results) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "\n{:<26}{:>10}{:>9}{:>9}{:>9}{:>15}  {}\n", "kith", "median ms", "/ gemm", "/ read", "/ faiss",
                 "/ gemm + heap", "bars");
  for (const RowResult& result : results) {
    const ContenderResult& subject = result.contenders.front();
    const std::string time = subject.timed() ? fmt::format("{:.3f}", subject.median_ms()) : "";
    fmt::format_to(out, "{:<26}{:>10}{:>9}{:>9}{:>9}{:>15}  {}\n", result.row.name, time,
                   ratio_to(result, subject, Kind::gemm), ratio_to(result, subject, Kind::read),
                   ratio_to(result, subject, Kind::faiss), ratio_to(result, subject, Kind::heap_baseline),
                   summarize_bars(result) + (result.busy() ? ", on a busy machine" : ""));
  }
  return text;
}

std::string format_spec(const RowSpec& row) {
  std::vector<std::string> bars;
  for (const Bar& bar : row.bars) bars.push_back(format_limit(bar, row.dtype));
  return fmt::format("  {:<26}{}{}{}\n", row.name, describe(row),
                     bars.empty() ? "" : "; bars: ", fmt::join(bars, "; "));
}

}  // namespace kith::bench

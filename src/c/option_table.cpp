// option_table.cpp: a row for each option: its name, how it is set, how it is read.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>

#include "c/options.hpp"
#include "core/names.hpp"
#include "kith/error.hpp"

namespace kith::c {
namespace {

struct OptionRow {
  std::string_view name;
  void (*set)(AllOptions& options, std::string_view name, const OptionValue& value);
  std::string (*get)(const AllOptions& options);
};

[[noreturn]] void refuse(std::string_view name, std::string_view wanted) {
  throw Error(ErrorCode::invalid_argument, fmt::format("option {} takes {}", name, wanted));
}

template <class Number>
Number parsed(std::string_view text, std::string_view name, std::string_view wanted) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw Error(ErrorCode::invalid_argument, fmt::format("option {} takes {}, not '{}'", name, wanted, text));
  return value;
}

std::string_view text_of(std::string_view name, const OptionValue& value) {
  if (const auto* const text = std::get_if<std::string_view>(&value)) return *text;
  refuse(name, "text");
}

std::int64_t integer_of(std::string_view name, const OptionValue& value) {
  if (const auto* const number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* const text = std::get_if<std::string_view>(&value))
    return parsed<std::int64_t>(*text, name, "an integer");
  refuse(name, "an integer");
}

double double_of(std::string_view name, const OptionValue& value) {
  if (const auto* const number = std::get_if<double>(&value)) return *number;
  if (const auto* const number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
  if (const auto* const text = std::get_if<std::string_view>(&value)) return parsed<double>(*text, name, "a number");
  refuse(name, "a number");
}

bool flag_of(std::string_view name, const OptionValue& value) {
  constexpr std::string_view kFlags = "0, 1, false or true";
  if (const auto* const number = std::get_if<std::int64_t>(&value); number != nullptr && (*number == 0 || *number == 1))
    return *number == 1;
  if (const auto* const text = std::get_if<std::string_view>(&value)) {
    if (*text == "1" || *text == "true") return true;
    if (*text == "0" || *text == "false") return false;
  }
  refuse(name, kFlags);
}

std::vector<double> doubles_of(std::string_view name, const OptionValue& value) {
  if (const auto* const numbers = std::get_if<std::span<const double>>(&value))
    return {numbers->begin(), numbers->end()};
  std::vector<double> values;
  std::string_view rest = std::get_if<std::string_view>(&value) == nullptr
                              ? (refuse(name, "several numbers"), std::string_view())
                              : std::get<std::string_view>(value);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    values.push_back(parsed<double>(rest.substr(0, comma), name, "numbers with commas between them"));
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
    if (rest.empty()) refuse(name, "numbers with commas between them, none at the end");
  }
  return values;
}

// Rows: kAt gives the member, for values and for constants.
template <auto kAt, auto kParse>
constexpr OptionRow choice(std::string_view name) {
  return {name,
          [](AllOptions& options, std::string_view own, const OptionValue& value) {
            kAt(options) = kParse(text_of(own, value));
          },
          [](const AllOptions& options) { return std::string(to_string(kAt(options))); }};
}

template <auto kAt>
constexpr OptionRow integer(std::string_view name) {
  return {name,
          [](AllOptions& options, std::string_view own, const OptionValue& value) {
            auto& member = kAt(options);
            using Member = std::remove_reference_t<decltype(member)>;
            const std::int64_t number = integer_of(own, value);
            if (number < std::numeric_limits<Member>::min() || number > std::numeric_limits<Member>::max())
              throw Error(ErrorCode::invalid_argument,
                          fmt::format("{} = {}; it must be from {} to {}", own, number,
                                      std::numeric_limits<Member>::min(), std::numeric_limits<Member>::max()));
            member = static_cast<Member>(number);
          },
          [](const AllOptions& options) { return fmt::format("{}", kAt(options)); }};
}

template <auto kAt>
constexpr OptionRow flag(std::string_view name) {
  return {
      name,
      [](AllOptions& options, std::string_view own, const OptionValue& value) { kAt(options) = flag_of(own, value); },
      [](const AllOptions& options) { return std::string(kAt(options) ? "1" : "0"); }};
}

template <auto kAt>
constexpr OptionRow number(std::string_view name) {
  return {
      name,
      [](AllOptions& options, std::string_view own, const OptionValue& value) { kAt(options) = double_of(own, value); },
      [](const AllOptions& options) { return fmt::format("{}", kAt(options)); }};
}

// `p` is of one metric, which knows it.
void check_minkowski(const AllOptions& options) {
  if (options.metric.kind != MetricKind::minkowski)
    throw Error(ErrorCode::invalid_argument, "p is for metric minkowski, not for " + to_string(options.metric));
}

constexpr OptionRow kPower{"p",
                           [](AllOptions& options, std::string_view own, const OptionValue& value) {
                             check_minkowski(options);
                             options.metric.p = double_of(own, value);
                           },
                           [](const AllOptions& options) {
                             check_minkowski(options);
                             return fmt::format("{}", options.metric.p);
                           }};

constexpr OptionRow kPeriod{
    "period",
    [](AllOptions& options, std::string_view own, const OptionValue& value) {
      options.period = doubles_of(own, value);
    },
    [](const AllOptions& options) { return fmt::format("{}", fmt::join(options.period, ",")); }};

constexpr OptionRow kDevices{"devices",
                             [](AllOptions& options, std::string_view own, const OptionValue& value) {
                               if (const auto* const id = std::get_if<std::int64_t>(&value)) {
                                 options.devices = parse_devices(std::to_string(*id));
                                 return;
                               }
                               const std::string_view text = text_of(own, value);
                               options.devices = text.empty() ? std::vector<int>() : parse_devices(text);
                             },
                             [](const AllOptions& options) { return format_devices(options.devices); }};

constexpr std::array<core::Name<PivotChoice>, 2> kPivotChoices{{
    {"best-bounds", PivotChoice::best_bounds},
    {"farthest-first", PivotChoice::farthest_first},
}};

constexpr OptionRow kPivotChoice{
    "pivots.choice",
    [](AllOptions& options, std::string_view own, const OptionValue& value) {
      options.pivots.choice = core::parse_name(kPivotChoices, "choice of pivots", text_of(own, value));
    },
    [](const AllOptions& options) { return std::string(core::name_of(kPivotChoices, options.pivots.choice)); }};

#define KITH_AT(member)        \
  [](auto& options) -> auto& { \
    return options.member;     \
  }
constexpr std::array kRows{
    choice<KITH_AT(metric), parse_metric>("metric"),
    kPower,
    choice<KITH_AT(backend), parse_backend>("backend"),
    choice<KITH_AT(method), parse_method>("method"),
    choice<KITH_AT(distance), parse_distance_stage>("distance"),
    choice<KITH_AT(select), parse_select_method>("select"),
    number<KITH_AT(max_distance)>("max_distance"),
    number<KITH_AT(epsilon)>("epsilon"),
    kPeriod,
    integer<KITH_AT(threads)>("threads"),
    integer<KITH_AT(memory_budget)>("memory_budget"),
    kDevices,
    flag<KITH_AT(pad_missing)>("pad_missing"),
    flag<KITH_AT(check_finite)>("check_finite"),
    flag<KITH_AT(statistics)>("statistics"),
    integer<KITH_AT(triangle.query_landmarks)>("triangle.query_landmarks"),
    integer<KITH_AT(triangle.base_landmarks)>("triangle.base_landmarks"),
    choice<KITH_AT(triangle.form), parse_triangle_form>("triangle.form"),
    choice<KITH_AT(triangle.filter), parse_triangle_filter>("triangle.filter"),
    choice<KITH_AT(triangle.placement), parse_triangle_placement>("triangle.placement"),
    choice<KITH_AT(triangle.layout), parse_triangle_layout>("triangle.layout"),
    flag<KITH_AT(triangle.remapped)>("triangle.remapped"),
    integer<KITH_AT(triangle.threads_per_query)>("triangle.threads_per_query"),
    integer<KITH_AT(shifted_sort.shifts)>("shifted_sort.shifts"),
    number<KITH_AT(shifted_sort.shift)>("shifted_sort.shift"),
    flag<KITH_AT(shifted_sort.guaranteed)>("shifted_sort.guaranteed"),
    integer<KITH_AT(shifted_sort.window)>("shifted_sort.window"),
    choice<KITH_AT(shifted_sort.curve), parse_curve>("shifted_sort.curve"),
    choice<KITH_AT(shifted_sort.merge), parse_curve_merge>("shifted_sort.merge"),
    choice<KITH_AT(shifted_sort.positions), parse_curve_positions>("shifted_sort.positions"),
    flag<KITH_AT(shifted_sort.certify)>("shifted_sort.certify"),
    integer<KITH_AT(pivots.count)>("pivots.count"),
    kPivotChoice,
    flag<KITH_AT(pivots.distance.symmetric)>("pivots.symmetric"),
    flag<KITH_AT(pivots.distance.triangle_inequality)>("pivots.triangle_inequality"),
    flag<KITH_AT(pivots.distance.integer_valued)>("pivots.integer_valued"),
    number<KITH_AT(pivots.distance.relative_error)>("pivots.relative_error"),
    number<KITH_AT(pivots.distance.absolute_error)>("pivots.absolute_error"),
};
#undef KITH_AT

const OptionRow& row_of(std::string_view name) {
  const std::string wanted = core::normalized(name);
  const auto found = std::find_if(kRows.begin(), kRows.end(), [&](const OptionRow& row) { return row.name == wanted; });
  if (found == kRows.end())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("unknown option '{}'; known are {}", name, fmt::join(option_names(), ", ")));
  return *found;
}

}  // namespace

void set_option(AllOptions& options, std::string_view name, const OptionValue& value) {
  const OptionRow& row = row_of(name);
  row.set(options, row.name, value);
}

std::string option_text(const AllOptions& options, std::string_view name) {
  return row_of(name).get(options);
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  for (const OptionRow& row : kRows) names.emplace_back(row.name);
  return names;
}

}  // namespace kith::c

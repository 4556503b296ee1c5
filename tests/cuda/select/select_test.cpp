// select_test.cpp: every selection method against the oracle, with pairwise coverage of inputs, outputs and tunings.
#include <map>
#include <sstream>

#include "select/selection.hpp"
#include "support/fails_with.hpp"
#include "support/pairwise.hpp"
#include "support/random.hpp"

namespace kith::test {
namespace {

using Group = SelectTuning::Group;

// Sets one field of SelectTuning; Settings are the values of a field that are tested.
using Setting = std::function<void(SelectTuning&)>;
using Settings = std::vector<Setting>;

struct Method {
  const char* name;
  SelectFunction<float> select_float;
  SelectFunction<double> select_double;
  unsigned limit;                  // the largest k; 0: none
  std::vector<Settings> settings;  // one list per field
};

template <class T>
const SelectFunction<T>& function_of(const Method& method) {
  if constexpr (std::is_same_v<T, float>)
    return method.select_float;
  else
    return method.select_double;
}

template <class Field>
Settings values_of(Field SelectTuning::*field, std::vector<Field> values) {
  Settings settings;
  for (const Field value : values) settings.push_back([field, value](SelectTuning& tuning) { tuning.*field = value; });
  return settings;
}

std::vector<Settings> queue_settings() {
  return {values_of(&SelectTuning::group, {Group::automatic, Group::thread, Group::warp}),
          values_of(&SelectTuning::buffered, {false, true, true}),
          values_of(&SelectTuning::full_buffer_vote, {false, true}),
          values_of(&SelectTuning::local_sort, {false, true}),
          values_of(&SelectTuning::buffer_size, {0, 1, 7, 64}),
          values_of(&SelectTuning::hierarchical, {0, 2, 4, 8})};
}

std::vector<Settings> merge_queue_settings() {
  std::vector<Settings> settings = queue_settings();
  settings.push_back(values_of(&SelectTuning::aligned, {true, false}));
  settings.push_back(values_of(&SelectTuning::merge_size, {0, 1, 4, 8, 16}));
  return settings;
}

std::vector<Settings> settings_of(std::string_view name) {
  if (name == "insertion-queue" || name == "heap-queue") return queue_settings();
  if (name == "merge-queue") return merge_queue_settings();
  if (name == "warp-select" || name == "block-select") return {values_of(&SelectTuning::thread_queue, {0, 2, 3, 4, 8})};
  if (name == "partial-bitonic")
    return {values_of(&SelectTuning::buffered, {false, true}), values_of(&SelectTuning::buffer_size, {0, 16})};
  if (name == "bits")
    return {values_of(&SelectTuning::transposed, {false, true}), values_of(&SelectTuning::scattered, {false, true})};
  if (name == "bits-single-row") return {values_of(&SelectTuning::partitions, {0, 1, 2, 5, 16})};
  if (name == "quick-multi-select")
    return {values_of(&SelectTuning::group, {Group::automatic, Group::warp, Group::block})};
  if (name == "sample-select") return {values_of(&SelectTuning::stages, {0, 1, 2})};
  return {};
}

unsigned limit_of(std::string_view name) {
  static const std::map<std::string_view, unsigned> limits = {{"warp-select", 1024},
                                                              {"block-select", 1024},
                                                              {"partial-bitonic", 2048},
                                                              {"bits", 2048},
                                                              {"bits-single-row", 2048}};
  const auto found = limits.find(name);
  return found == limits.end() ? 0 : found->second;
}

const std::vector<Method>& methods() {
  static const std::vector<Method> all = {
#define KITH_METHOD(function)                                                              \
  {to_string(SelectMethod::function), device::select::methods::function<float>,            \
   device::select::methods::function<double>, limit_of(to_string(SelectMethod::function)), \
   settings_of(to_string(SelectMethod::function))},
      KITH_SELECT_METHODS(KITH_METHOD)
#undef KITH_METHOD
  };
  return all;
}

// The largest k to test. A thread's queue may write k slots for each value, so its k is bounded by time.
unsigned most_k(const Method& method, unsigned length) {
  const unsigned most_writes = under_sanitizer() ? 300000 : 11000000;
  const unsigned limit = method.limit == 0 ? length : std::min(method.limit, length);
  return std::string_view(method.name).ends_with("-queue") ? std::min(limit, most_writes / length) : limit;
}

const Method& method_named(std::string_view name) {
  for (const Method& method : methods())
    if (method.name == name) return method;
  throw Error(ErrorCode::internal, "no method " + std::string(name));
}

struct Size {
  std::int64_t rows;
  unsigned length;
};

const std::vector<Size>& row_sizes() {
  static const std::vector<Size> small = {{1, 1},   {3, 2},    {33, 31},  {1, 32},   {3, 100}, {2, 257},
                                          {3, 999}, {1, 1000}, {1, 2048}, {1, 4097}, {1, 5000}};
  static const std::vector<Size> all = {{1, 1},     {3, 2},      {33, 31},   {1, 32},    {34, 100},  {2, 257},
                                        {5, 999},   {1, 1000},   {2, 2048},  {1, 4097},  {33, 5000}, {1000, 77},
                                        {2, 20001}, {257, 4096}, {70000, 3}, {3, 65536}, {1, 100003}};
  return small_problems() ? small : all;
}

std::uint64_t rounds() {
  return small_problems() ? 1 : 2;
}

// Values of k; more are fractions of the row's length.
const std::vector<unsigned> kCounts = {1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 2047, 2048, 2049};
constexpr std::size_t kFractions = 4;  // a third, a half, all but one, all

const std::vector<RowGaps> kLayouts = {{0, 0}, {1, 0}, {3, 1}, {0, 4}, {2, 13}};

unsigned count_of(std::size_t choice, unsigned length) {
  if (choice < kCounts.size()) return kCounts[choice];
  const unsigned fractions[kFractions] = {length / 3, length / 2, length - 1, length};
  return fractions[choice - kCounts.size()];
}

// One call, from the parameter values that pairwise() chose.
struct Case {
  Values values;
  Size size;
  unsigned k;
  bool largest;
  bool wide;
  TopkOutput form;
  Ids ids;
  RowGaps layout;
  std::uint64_t schedule;
  SelectTuning tuning;
  std::uint64_t seed;
};

std::vector<std::size_t> parameter_sizes(const Method& method) {
  std::vector<std::size_t> sizes = {
      kValuesCount,    row_sizes().size(), kCounts.size() + kFractions, 2, 2, std::size(kOutputs), kIdsCount,
      kLayouts.size(), kSchedules};
  for (const Settings& settings : method.settings) sizes.push_back(settings.size());
  return sizes;
}

Case make_case(const Method& method, const std::vector<std::size_t>& choice, std::uint64_t seed) {
  Case made{static_cast<Values>(choice[0]),
            row_sizes()[choice[1]],
            0,
            choice[3] == 1,
            choice[4] == 1,
            kOutputs[choice[5]],
            static_cast<Ids>(choice[6]),
            kLayouts[choice[7]],
            choice[8],
            {},
            seed};
  for (std::size_t i = 0; i < method.settings.size(); ++i) method.settings[i][choice[9 + i]](made.tuning);
  unsigned most = most_k(method, made.size.length);
  const bool queue_of_warp = made.tuning.group == Group::warp && method.name != std::string_view("quick-multi-select");
  if (queue_of_warp) most = std::min(most, 1024U);
  made.k = count_of(choice[2], made.size.length);
  // A k that this method or row does not allow becomes a random one.
  if (made.k < 1 || made.k > most) made.k = 1 + static_cast<unsigned>(Random(seed).below(most));
  return made;
}

std::string describe(const SelectTuning& tuning) {
  std::ostringstream out;
  const char* groups[] = {"automatic", "thread", "warp", "block"};
  out << "group " << groups[static_cast<int>(tuning.group)];
  if (tuning.buffered) out << ", buffered";
  if (tuning.full_buffer_vote) out << ", full_buffer_vote";
  if (tuning.local_sort) out << ", local_sort";
  if (!tuning.aligned) out << ", unaligned";
  if (tuning.scattered) out << ", scattered";
  if (tuning.transposed) out << ", transposed";
  const std::pair<const char*, int> numbers[] = {
      {"hierarchical", tuning.hierarchical}, {"merge_size", tuning.merge_size}, {"buffer_size", tuning.buffer_size},
      {"thread_queue", tuning.thread_queue}, {"stages", tuning.stages},         {"partitions", tuning.partitions}};
  for (const auto& [name, value] : numbers)
    if (value != 0) out << ", " << name << ' ' << value;
  return out.str();
}

std::string describe(const Case& one) {
  std::ostringstream out;
  const char* ids[] = {"columns", "reversed ids", "scattered ids"};
  out << one.size.rows << " x " << one.size.length << (one.wide ? " double, " : " float, ") << to_string(one.values)
      << ", k = " << one.k << (one.largest ? " largest, " : " smallest, ") << to_string(one.form) << ", "
      << ids[static_cast<int>(one.ids)] << ", offset " << one.layout.offset << ", padding " << one.layout.padding
      << ", schedule " << one.schedule << ", seed " << one.seed << "; " << describe(one.tuning);
  return out.str();
}

template <class T>
void run_case(const Method& method, const Case& one) {
  const auto problem =
      make_problem<T>(one.values, one.size.rows, one.size.length, one.largest, one.ids, one.layout, one.seed);
  set_schedule(one.schedule);
  DeviceProblem<T>(problem).check(function_of<T>(method), {one.k, one.form, one.tuning});
}

void expect_refusal(const Method& method, unsigned length, const Question& question,
                    const std::vector<std::string>& words) {
  const auto problem = make_problem<float>(Values::random, 1, length, false, Ids::column, {}, 1);
  EXPECT_TRUE(fails_with(ErrorCode::invalid_argument, words,
                         [&] { DeviceProblem<float>(problem).answer(method.select_float, question); }))
      << method.name << " with k = " << question.k << ", " << describe(question.tuning);
}

class Select : public OnDevice<testing::TestWithParam<std::size_t>> {
 protected:
  static const Method& method() { return methods()[GetParam()]; }
};

TEST_P(Select, AgreesWithTheOracle) {
  for (std::uint64_t round = 0; round < rounds(); ++round) {
    const auto choices = pairwise(parameter_sizes(method()), 1 + GetParam() + 100 * round);
    for (std::size_t i = 0; i < choices.size(); i += under_sanitizer() ? 4 : 1) {
      const Case one = make_case(method(), choices[i], 1 + i + 10000 * round);
      SCOPED_TRACE(method().name + (": " + describe(one)));
      ASSERT_NO_THROW(one.wide ? run_case<double>(method(), one) : run_case<float>(method(), one));
      if (HasFailure()) return;
    }
  }
}

// Past its limit a method names the requested k and the limit; without a limit it selects the whole row.
TEST_P(Select, GoesToItsLimitAndNoFurther) {
  const unsigned limit = method().limit;
  if (limit > 0) expect_refusal(method(), limit + 10, {limit + 1}, {std::to_string(limit + 1), std::to_string(limit)});
  const unsigned length = limit > 0 ? limit : small_problems() ? 4500 : 70000;
  const unsigned k = most_k(method(), length);
  const auto problem = make_problem<double>(Values::random, 2, length, false, Ids::column, {}, 1);
  DeviceProblem<double>(problem).check(method().select_double, {k});
}

// A method either keeps to its budget and is right, or throws an error that names the budget.
TEST_P(Select, KeepsToItsBudget) {
  const auto problem = make_problem<float>(Values::random, 3, 5000, false, Ids::column, {}, 5);
  DeviceProblem<float> on_device(problem);
  const std::size_t used = on_device.answer(method().select_float, {40}).workspace;
  on_device.check(method().select_float, {40, TopkOutput::sorted, {}, used});
  for (const std::size_t budget : {used / 2, used / 8, std::size_t{1}}) {
    if (budget == 0) continue;
    SCOPED_TRACE(testing::Message() << method().name << " within " << budget << " bytes of " << used);
    try {
      on_device.check(method().select_float, {40, TopkOutput::sorted, {}, budget});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      EXPECT_NE(std::string(error.what()).find(std::to_string(budget)), std::string::npos) << error.what();
    }
  }
}

// Consecutive calls on one stream need no synchronization, and a second round allocates nothing.
TEST_P(Select, RepeatsInTheSameWorkspace) {
  const auto problem = make_problem<float>(Values::few_distinct, 4, 777, true, Ids::column, {}, 5);
  const DeviceProblem<float> on_device(problem);
  const auto& rows = on_device.rows();
  const SelectTuning tuning;
  device::Workspace workspace(on_device.stream());
  std::vector<DeviceArray<float>> answers;
  for (int round = 0; round < 3; ++round) answers.emplace_back(std::vector<float>(4 * 50, -777.0F), on_device.stream());
  for (auto& answer : answers) {
    workspace.reset();
    method().select_float({rows, {answer.data(), nullptr, 50, TopkOutput::values_only, rows}, tuning, workspace});
  }
  for (std::int64_t row = 0; row < 4; ++row) {
    const auto sorted = sorted_row(problem, row);
    for (const auto& answer : answers) {
      const std::vector<float> got = answer.values();
      EXPECT_EQ(wrong_answer(problem, sorted, 50, TopkOutput::values_only, {got.data() + 50 * row, nullptr}), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Select, testing::Range<std::size_t>(0, methods().size()), [](const auto& method) {
  std::string name = methods()[method.param].name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

std::vector<Size> long_sizes() {
  if (small_problems()) return {{2, 20011}};
  return {{257, 100003}, {3, (1U << 21U) + 5}, {1, 5000000}};
}

std::vector<unsigned> long_counts() {
  if (small_problems()) return {1, 100, 2500};
  return {1, 10, 100, 1000, 2048, 20000, 300001};
}

using LongRows = OnDevice<testing::TestWithParam<Size>>;

TEST_P(LongRows, AllMethodsAgreeWithTheOracle) {
  const Size size = GetParam();
  for (const Values kind : {Values::random, Values::few_distinct, Values::descending}) {
    const bool largest = kind == Values::few_distinct;
    const auto problem = make_problem<float>(kind, size.rows, size.length, largest, Ids::column, {1, 2}, 3);
    DeviceProblem<float> on_device(problem);
    for (const Method& method : methods()) {
      for (const unsigned k : long_counts()) {
        if (k > most_k(method, size.length)) continue;
        SCOPED_TRACE(testing::Message() << method.name << ", " << to_string(kind) << ", k = " << k);
        on_device.check(method.select_float, {k});
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, LongRows, testing::ValuesIn(long_sizes()), [](const auto& size) {
  return std::to_string(size.param.rows) + "_rows_of_" + std::to_string(size.param.length);
});

// A tuning that a method does not support is refused by name, not ignored.
TEST_F(DeviceTest, SelectRefusesUnknownTuning) {
  struct Refusal {
    std::string_view method;
    Setting setting;
    std::string word;
  };
  const auto set = [](auto field, auto value) { return values_of(field, std::vector<decltype(value)>{value})[0]; };
  const std::vector<Refusal> refusals = {
      {"insertion-queue", set(&SelectTuning::group, Group::block), "block"},
      {"heap-queue", set(&SelectTuning::hierarchical, 3), "3"},
      {"merge-queue", set(&SelectTuning::merge_size, 6), "6"},
      {"merge-queue", set(&SelectTuning::merge_size, -8), "-8"},
      {"warp-select", set(&SelectTuning::thread_queue, 9), "9"},
      {"block-select", set(&SelectTuning::thread_queue, 1), "1"},
      {"bits-single-row", set(&SelectTuning::partitions, 513), "513"},
      {"bits-single-row", set(&SelectTuning::partitions, -1), "-1"},
      {"sample-select", set(&SelectTuning::stages, 3), "3"},
      {"quick-multi-select", set(&SelectTuning::group, Group::thread), "thread"},
  };
  for (const Refusal& refusal : refusals) {
    Question question{5};
    refusal.setting(question.tuning);
    expect_refusal(method_named(refusal.method), 100, question, {refusal.word});
  }
  for (const int size : {65, -1}) {
    Question question{5};
    question.tuning.buffered = true;
    question.tuning.buffer_size = size;
    expect_refusal(method_named("heap-queue"), 100, question, {std::to_string(size)});
    question.tuning.buffer_size = size < 0 ? size : 2049;
    expect_refusal(method_named("partial-bitonic"), 100, question, {std::to_string(question.tuning.buffer_size)});
  }
  Question warp{1025};
  warp.tuning.group = Group::warp;
  expect_refusal(method_named("insertion-queue"), 1100, warp, {"1025", "1024"});
}

}  // namespace
}  // namespace kith::test

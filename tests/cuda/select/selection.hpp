// selection.hpp: a problem on the device, a selection from it, and the comparison with the oracle.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cuda/select/method.hpp"
#include "device_test.hpp"
#include "problem.hpp"

namespace kith::test {

template <class T>
using SelectFunction = std::function<void(const device::select::SelectCall<T>&)>;

// The parameters of a selection.
struct Question {
  unsigned k = 1;
  TopkOutput form = TopkOutput::sorted;
  SelectTuning tuning = {};
  std::size_t budget = 0;

  bool has_ids() const { return form == TopkOutput::sorted || form == TopkOutput::unsorted; }
  std::size_t width() const { return form == TopkOutput::kth_only ? 1 : k; }
};

template <class T>
struct Answer {
  std::vector<T> values;
  std::vector<std::int64_t> ids;
  std::size_t workspace = 0;  // bytes allocated
};

template <class T>
class DeviceProblem {
 public:
  explicit DeviceProblem(const RowsProblem<T>& problem)
      : problem_(problem), values_(problem.values, stream_), ids_(problem.ids, stream_) {
    rows_.values = values_.data() + problem.layout.offset;
    rows_.ids = problem.ids.empty() ? nullptr : ids_.data() + problem.layout.offset;
    rows_.rows = problem.rows;
    rows_.length = problem.length;
    rows_.stride = problem.stride();
    rows_.id_stride = problem.stride();
    rows_.largest = problem.largest;
  }

  Answer<T> answer(const SelectFunction<T>& select, const Question& question) {
    const std::size_t count = static_cast<std::size_t>(problem_.rows) * question.width();
    DeviceArray<T> values(std::vector<T>(count + kGuard, kUnwritten), stream_);
    DeviceArray<std::int64_t> ids(std::vector<std::int64_t>(question.has_ids() ? count + kGuard : 0, kGuardId),
                                  stream_);
    device::Workspace workspace(stream_, question.budget);
    select({rows_, {values.data(), ids.data(), question.k, question.form, rows_}, question.tuning, workspace});
    Answer<T> answer{values.values(), ids.values(), workspace.used()};
    for (std::size_t i = count; i < answer.values.size(); ++i) EXPECT_EQ(answer.values[i], kUnwritten) << "guard " << i;
    for (std::size_t i = count; i < answer.ids.size(); ++i) EXPECT_EQ(answer.ids[i], kGuardId) << "guard " << i;
    return answer;
  }

  const device::select::Rows<T>& rows() const { return rows_; }
  cudaStream_t stream() const { return stream_; }

  // Compares about kRowsCompared rows with the oracle.
  void check(const SelectFunction<T>& select, const Question& question) {
    const Answer<T> got = answer(select, question);
    const std::int64_t step = 1 + problem_.rows / kRowsCompared;
    for (std::int64_t row = (problem_.rows - 1) % step; row < problem_.rows; row += step) {
      const std::string wrong =
          wrong_answer(problem_, sorted(row), question.k, question.form, row_of(got, question, row));
      ASSERT_EQ(wrong, "") << "in row " << row;
    }
  }

 private:
  // The emulator allocates blocks of exact size, which AddressSanitizer checks; a device needs guard values.
  static constexpr std::size_t kGuard = kEmulated ? 0 : 64;
  static constexpr std::int64_t kRowsCompared = 50;
  static constexpr T kUnwritten = T{-777};
  static constexpr std::int64_t kGuardId = -777;

  RowAnswer<T> row_of(const Answer<T>& got, const Question& question, std::int64_t row) const {
    const std::size_t first = static_cast<std::size_t>(row) * question.width();
    return {got.values.data() + first, question.has_ids() ? got.ids.data() + first : nullptr};
  }

  const std::vector<Choice<T>>& sorted(std::int64_t row) {
    if (sorted_.empty()) sorted_.resize(static_cast<std::size_t>(problem_.rows));
    std::vector<Choice<T>>& choices = sorted_[static_cast<std::size_t>(row)];
    if (choices.empty()) choices = sorted_row(problem_, row);
    return choices;
  }

  const RowsProblem<T>& problem_;
  device::Stream stream_;
  DeviceArray<T> values_;
  DeviceArray<unsigned> ids_;
  device::select::Rows<T> rows_;
  std::vector<std::vector<Choice<T>>> sorted_;
};

}  // namespace kith::test

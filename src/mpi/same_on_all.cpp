#include "mpi/same_on_all.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/key.hpp"
#include "kith/error.hpp"

namespace kith::mpi {
namespace {

// All values as one text, which is rank 0's on all ranks that compare.
std::string joined(const NamedValues& values) {
  std::string text;
  for (const auto& [name, value] : values) text += value + '\n';
  return text;
}

}  // namespace

void require_same(const Communicator& ranks, const NamedValues& mine) {
  const std::string first = ranks.broadcast(joined(mine), 0);
  // Which value is the first that is not rank 0's; as many as there are where all are.
  std::size_t at = 0;
  std::size_t place = 0;
  while (at < mine.size() && first.compare(place, mine[at].second.size() + 1, mine[at].second + '\n') == 0)
    place += mine[at++].second.size() + 1;
  const auto differs = ranks.all_gather(static_cast<std::int64_t>(at));
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const auto index = static_cast<std::size_t>(differs[static_cast<std::size_t>(rank)]);
    if (index == mine.size()) continue;
    const std::string other = ranks.broadcast(mine[index].second, rank);
    const std::string here = ranks.broadcast(mine[index].second, 0);
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is {} on rank 0 but {} on rank {}; all ranks must give the same", mine[index].first,
                            here, other, rank));
  }
}

NamedValues values_of(const Options& options) {
  return {{"metric", to_string(options.metric)},
          {"method", to_string(options.method)},
          {"max_distance", fmt::format("{}", options.max_distance)},
          {"epsilon", fmt::format("{}", options.epsilon)},
          {"period", fmt::format("[{}]", fmt::join(options.period, ", "))},
          {"pad_missing", options.pad_missing ? "on" : "off"},
          {"check_finite", options.check_finite ? "on" : "off"}};
}

void require_same_powers(const Communicator& ranks, const Metric& metric, Backend backend) {
  const auto backends = ranks.all_gather(backend);
  if (core::effective_kind(metric) != MetricKind::minkowski) return;
  for (int rank = 1; rank < ranks.size(); ++rank) {
    const Backend other = backends[static_cast<std::size_t>(rank)];
    if (other == backends.front()) continue;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("metric {} on backend {} of rank 0 and on {} of rank {}: their powers differ in the last "
                            "bit; give all ranks the same backend",
                            to_string(metric), to_string(backends.front()), to_string(other), rank));
  }
}

}  // namespace kith::mpi

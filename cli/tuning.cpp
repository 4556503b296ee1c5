#include "cli/tuning.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "kith/error.hpp"

namespace kith::cli {
namespace {

using Group = SelectTuning::Group;

constexpr const char* kTuningGroup = "Tuning of methods of cuda and emulated; others do not look at it";

const std::vector<std::string> kGroupNames = {"auto", "thread", "warp", "block"};

Group parse_group(const std::string& name) {
  static const std::map<std::string, Group> groups = {
      {"auto", Group::automatic}, {"thread", Group::thread}, {"warp", Group::warp}, {"block", Group::block}};
  const auto found = groups.find(name);
  if (found == groups.end()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("unknown group '{}'; known are {}", name, fmt::join(kGroupNames, ", ")));
  }
  return found->second;
}

}  // namespace

SelectTuning TuningSettings::values() const {
  SelectTuning result = tuning;
  result.group = parse_group(group);
  result.aligned = !unaligned;
  return result;
}

void add_tuning_options(CLI::App& command, Context& context, TuningSettings& settings) {
  SelectTuning& tuning = settings.tuning;
  const auto flag = [&](const std::string& name, bool& value, const std::string& description) {
    return command.add_flag(name, value, description)->group(kTuningGroup);
  };
  const auto number = [&](const std::string& name, int& value, const std::string& description) {
    add_integer(command, name, value, description)->group(kTuningGroup);
  };
  flag("--buffered", tuning.buffered, "Queues, partial-bitonic: collect candidates before they are inserted");
  number("--buffer-size", tuning.buffer_size, "Buffered: candidates that a buffer holds");
  flag("--full-buffer-vote", tuning.full_buffer_vote, "Buffered queues: a warp empties its buffers when one is full");
  flag("--local-sort", tuning.local_sort, "Buffered queues: sort a buffer before it is inserted");
  number("--hierarchical", tuning.hierarchical, "Queues: search a hierarchy of minima of groups of 2, 4 or 8");
  number("--merge-size", tuning.merge_size, "merge-queue: size of its first levels, a power of two");
  CLI::Option* aligned = flag("--aligned", settings.aligned, "merge-queue: a warp merges together; the default");
  flag("--unaligned", settings.unaligned, "merge-queue: each thread merges when it must")->excludes(aligned);
  add_choice(
      command, context, "--group", settings.group, kGroupNames, [](const std::string& name) { parse_group(name); },
      "Who works on a row: queues (thread, warp), quick-multi-select (warp, block)")
      ->group(kTuningGroup);
  number("--thread-queue", tuning.thread_queue, "warp-select, block-select: length of each thread's queue");
  number("--stages", tuning.stages, "sample-select: 1 or 2");
  number("--partitions", tuning.partitions, "bits-single-row: parts that a row is cut into");
  flag("--scattered", tuning.scattered, "bits: read a row out of order, so that no order of its values hurts");
  flag("--transposed", tuning.transposed, "bits: items strided over the block, not consecutive ones in each thread");
}

}  // namespace kith::cli

// kith_bench_lowdim_cpu: shifted sorting on the CPU beside nanoflann's exact search, with the same threads: times with
// what each prepares, and how good the approximate answer is.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <CLI/CLI.hpp>
#include <cmath>
#include <nanoflann.hpp>
#include <thread>

#include "kith/kith.hpp"
#include "lowdim/sets.hpp"
#include "program.hpp"

namespace kith::lowdim_bench {
namespace {

constexpr int kDims = 3;

struct Arguments {
  std::vector<std::string> sets = pair_names();
  std::string surface = "../shared/data";
  std::int64_t base = 1000000;
  std::int64_t queries = 1000000;
  std::vector<std::int64_t> ks = {10};
  int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  int rounds = 3;
};

// What nanoflann asks of a set of points.
struct Cloud {
  const Points& points;
  std::size_t kdtree_get_point_count() const { return points.size() / kDims; }
  float kdtree_get_pt(std::size_t row, std::size_t col) const { return points[kDims * row + col]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using Tree =
    nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, Cloud>, Cloud, kDims, std::uint32_t>;

template <class Work>
double seconds_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Squares of the true distances, k a query.
std::vector<float> search_tree(const Pair& pair, std::int64_t k, int threads) {
  const Cloud cloud{pair.base};
  const Tree tree(kDims, cloud);
  const auto queries = static_cast<std::int64_t>(pair.queries.size()) / kDims;
  const auto width = static_cast<std::size_t>(k);
  std::vector<float> squares(static_cast<std::size_t>(queries) * width);
#pragma omp parallel num_threads(threads)
  {
    std::vector<std::uint32_t> ids(width);
#pragma omp for schedule(dynamic, 256)
    for (std::int64_t q = 0; q < queries; ++q)
      tree.knnSearch(pair.queries.data() + kDims * q, width, ids.data(),
                     squares.data() + static_cast<std::size_t>(q) * width);
  }
  return squares;
}

struct Quality {
  double recall;
  DistanceRatios ratios;
};

// The tree rounds its distances differently.
Quality judge(const Neighbors<float>& found, const std::vector<float>& squares) {
  constexpr double kRounding = 1 + 1e-6;
  std::vector<double> ratios;
  std::int64_t right = 0;
  for (std::int64_t q = 0; q < found.queries; ++q) {
    const double last = std::sqrt(static_cast<double>(squares[static_cast<std::size_t>((q + 1) * found.k - 1)]));
    const auto row = found.distances_of(q);
    right += std::count_if(row.begin(), row.end(), [=](float distance) { return distance <= last * kRounding; });
    ratios.push_back(row.back() <= last * kRounding ? 1 : static_cast<double>(row.back()) / last);
  }
  return {static_cast<double>(right) / static_cast<double>(found.queries * found.k),
          summarize_ratios(std::move(ratios))};
}

void compare(const std::string& set, const Pair& pair, std::int64_t k, const Arguments& arguments) {
  Options options;
  options.backend = Backend::cpu;
  options.method = Method::shifted_sort;
  options.threads = arguments.threads;
  const MatrixView<float> base(pair.base.data(), arguments.base, kDims);
  const MatrixView<float> queries(pair.queries.data(), arguments.queries, kDims);
  std::vector<double> tree_seconds;
  std::vector<double> sort_seconds;
  std::vector<float> squares;
  Neighbors<float> found;
  for (int round = 0; round < arguments.rounds; ++round) {
    tree_seconds.push_back(seconds_of([&] { squares = search_tree(pair, k, arguments.threads); }));
    sort_seconds.push_back(seconds_of([&] { found = search(base, queries, k, options); }));
  }
  const double tree = *std::min_element(tree_seconds.begin(), tree_seconds.end());
  const double sorted = *std::min_element(sort_seconds.begin(), sort_seconds.end());
  const Quality quality = judge(found, squares);
  fmt::print(
      "{:<19} {} into {}, k = {}, {} threads: nanoflann {:.3f} s, shifted-sort {:.3f} s ({:.2f} ×)  recall {:.4f}  "
      "ε mean {:.4f} p99 {:.3f} p99.9 {:.3f} max {:.3f}\n",
      set, arguments.queries, arguments.base, k, arguments.threads, tree, sorted, tree / sorted, quality.recall,
      quality.ratios.mean, quality.ratios.p99, quality.ratios.p999, quality.ratios.max);
  std::fflush(stdout);
}

int main_of(int argc, char** argv) {
  CLI::App app("Shifted sorting on the CPU beside nanoflann", "kith_bench_lowdim_cpu");
  Arguments arguments;
  app.add_option("--set", arguments.sets, "Sets of points")->check(CLI::IsMember(pair_names()));
  app.add_option("--surface", arguments.surface, "Folder of bunny.npy and bunny_faces.npy; else a surface is made up");
  app.add_option("--base", arguments.base, "Base points")->check(CLI::Range(1, 1000000000));
  app.add_option("--queries", arguments.queries, "Queries")->check(CLI::Range(1, 1000000000));
  app.add_option("-k", arguments.ks, "Neighbors");
  app.add_option("--threads", arguments.threads, "Threads of both")->check(CLI::Range(1, 1024));
  app.add_option("--rounds", arguments.rounds, "The best of so many is printed")->check(CLI::Range(1, 1000));
  if (const auto done = bench::parse(app, argc, argv)) return *done;
  const Triangles surface = load_surface(arguments.surface);
  for (const std::string& set : arguments.sets) {
    const Pair pair = make_pair(set, arguments.base, arguments.queries, surface);
    for (const std::int64_t k : arguments.ks) compare(set, pair, k, arguments);
  }
  return 0;
}

}  // namespace
}  // namespace kith::lowdim_bench

int main(int argc, char** argv) {
  return kith::bench::run_program("kith_bench_lowdim_cpu", argc, argv, kith::lowdim_bench::main_of);
}

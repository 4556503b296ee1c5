#include "environment.hpp"

#include <cblas.h>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "commit.hpp"
#include "contenders/contenders.hpp"
#include "kith/options.hpp"
#include "kith/version.hpp"

namespace kith::bench {
namespace {

std::string compiler_name() {
#if defined(__clang__)
  return fmt::format("clang {}, {}", __clang_version__, KITH_BENCH_BUILD_TYPE);
#else
  return fmt::format("gcc {}, {}", __VERSION__, KITH_BENCH_BUILD_TYPE);
#endif
}

double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

}  // namespace

Environment inspect_environment() {
  Environment environment;
  environment.machine = support::inspect_machine();
  environment.simd_targets = simd_targets();
  environment.load = load_average();
  environment.compiler = compiler_name();
  environment.kith_version = version();
  environment.commit = kCommit;
  environment.blas = openblas_get_config();
  environment.faiss = faiss_version();
  environment.nanoflann = nanoflann_version();
  environment.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
#ifdef __OPTIMIZE__
  environment.optimized = true;
#endif
  return environment;
}

}  // namespace kith::bench

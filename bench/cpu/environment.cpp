#include "cpu/environment.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <cstdlib>

#include "cpu/contenders/contenders.hpp"
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

Json or_null(const std::string& version) {
  return version.empty() ? Json() : Json(version);
}

}  // namespace

Json inspect_environment() {
  Json json = {{"date", now()},
               {"kith", {{"version", version()}, {"commit", built_commit()}}},
               {"compiler", compiler_name()},
               {"optimized", false},
               {"machine", machine_json()},
               {"libraries",
                {{"blas", openblas_get_config()},
                 {"faiss", or_null(faiss_version())},
                 {"nanoflann", or_null(nanoflann_version())}}}};
#ifdef __OPTIMIZE__
  json["optimized"] = true;
#endif
  double load = 0;
  json["machine"]["simd_targets"] = simd_targets();
  json["machine"]["load_before"] = getloadavg(&load, 1) == 1 ? load : 0;
  return json;
}

}  // namespace kith::bench

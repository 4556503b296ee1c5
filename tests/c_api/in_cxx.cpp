// in_cxx.cpp: kith.h in C++, as old as 2011: everything is noexcept, structures have the layout that other languages
// write down, and what a callback throws, which it must not, does not get through.
#include <kith.h>

#include <cstdio>
#include <cstring>
#include <stdexcept>

static_assert(noexcept(kith_last_error()), "");
static_assert(noexcept(kith_options_destroy(nullptr)), "");
static_assert(noexcept(kith_search(nullptr, nullptr, 1, nullptr, nullptr, nullptr)), "");

static_assert(sizeof(kith_matrix) == 48 && offsetof(kith_matrix, dtype) == 40 && offsetof(kith_matrix, memory) == 44,
              "");
static_assert(sizeof(kith_array) == 24 && offsetof(kith_array, dtype) == 16 && offsetof(kith_array, memory) == 20, "");
static_assert(sizeof(kith_neighbors) == 48 && offsetof(kith_neighbors, certified) == 24 &&
                  offsetof(kith_neighbors, dtype) == 40,
              "");
static_assert(sizeof(kith_list_arrays) == 48 && offsetof(kith_list_arrays, offsets) == 16 &&
                  offsetof(kith_list_arrays, dtype) == 40,
              "");
static_assert(sizeof(kith_bits) == 32 && offsetof(kith_bits, stride) == 24, "");
static_assert(sizeof(kith_csr) == 56 && offsetof(kith_csr, index_bytes) == 48 && offsetof(kith_csr, dtype) == 52, "");
static_assert(sizeof(kith_metric_parameter) == 32 && offsetof(kith_metric_parameter, text) == 24, "");
static_assert(sizeof(kith_objects) == 32 && offsetof(kith_objects, user) == 24, "");
static_assert(sizeof(kith_pivot_report) == 80 && offsetof(kith_pivot_report, seconds) == 72, "");

namespace {

int32_t throws_error(int64_t, int64_t, void*) {
  throw std::runtime_error("thrown by a callback");
}

int32_t throws_number(int64_t, int64_t, void*) {
  throw 5;
}

bool ends_with(kith_progress callback, const char* message) {
  const float points[] = {0, 0, 3, 4, 6, 8};
  kith_matrix matrix = kith_matrix();
  matrix.data = points;
  matrix.rows = 3;
  matrix.cols = 2;
  matrix.dtype = KITH_FLOAT32;
  int64_t ids[3];
  float distances[3];
  kith_neighbors out = kith_neighbors();
  out.ids = ids;
  out.distances = distances;
  out.capacity = 3;
  out.dtype = KITH_FLOAT32;
  kith_options* options = nullptr;
  bool right = kith_options_create(&options) == KITH_OK && kith_options_set(options, "backend", "cpu") == KITH_OK &&
               kith_options_set_progress(options, callback, nullptr) == KITH_OK &&
               kith_search(&matrix, &matrix, 1, options, &out, nullptr) == KITH_INTERNAL &&
               std::strstr(kith_last_error(), message) != nullptr;
  right = kith_options_set_progress(options, nullptr, nullptr) == KITH_OK && right;
  right = kith_search(&matrix, &matrix, 1, options, &out, nullptr) == KITH_OK && right;
  return kith_options_destroy(options) == KITH_OK && right && ids[2] == 2;
}

int32_t throws_distance(const double*, const double*, int64_t, double*, void*) {
  throw std::runtime_error("thrown by a distance of rows");
}

int32_t throws_object_distance(int64_t, int64_t, double, double*, void*) {
  throw std::runtime_error("thrown by a distance of objects");
}

bool distances_end_searches() {
  const double points[] = {0, 1, 2};
  kith_matrix matrix = kith_matrix();
  matrix.data = points;
  matrix.rows = 3;
  matrix.cols = 1;
  matrix.dtype = KITH_FLOAT64;
  double distances[9];
  kith_array out = kith_array();
  out.data = distances;
  out.capacity = 9;
  out.dtype = KITH_FLOAT64;
  kith_metric* metric = nullptr;
  kith_custom_index* index = nullptr;
  const bool right = kith_metric_create_function(throws_distance, nullptr, 0, &metric) == KITH_OK &&
                     kith_custom_index_create(metric, &matrix, nullptr, &index) == KITH_OK &&
                     kith_custom_index_distances(index, &matrix, &out) == KITH_INTERNAL &&
                     std::strstr(kith_last_error(), "thrown by a distance of rows") != nullptr;
  kith_objects objects = kith_objects();
  objects.count = 100;
  objects.distance = throws_object_distance;
  kith_pivot_index* pivots = nullptr;
  return kith_custom_index_destroy(index) == KITH_OK && kith_metric_destroy(metric) == KITH_OK && right &&
         kith_pivot_index_create(&objects, nullptr, &pivots) == KITH_INTERNAL && pivots == nullptr &&
         std::strstr(kith_last_error(), "thrown by a distance of objects") != nullptr;
}

}  // namespace

int main() {
  if (ends_with(throws_error, "thrown by a callback") && ends_with(throws_number, "of a type that is not known") &&
      distances_end_searches())
    return 0;
  std::printf("what a callback throws became: %s\n", kith_last_error());
  return 1;
}

// brute.hpp: the answers of brute force, and random strings and objects to search.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kith/pivots.hpp"
#include "kith/sequence_distances.hpp"
#include "support/random.hpp"

namespace kith::test {

using Row = std::vector<std::pair<double, std::int64_t>>;  // distances and ids, sorted

// All objects; `without` is left out.
template <class Object, class Distance>
Row all_distances(const std::vector<Object>& objects, const Object& query, const Distance& distance,
                  std::int64_t without = -1) {
  Row row;
  for (std::int64_t id = 0; id < std::ssize(objects); ++id)
    if (id != without) row.emplace_back(distance(query, objects[static_cast<std::size_t>(id)]), id);
  std::sort(row.begin(), row.end());
  return row;
}

template <class Found>
Row row_of(const Found& found, std::int64_t query) {
  Row row;
  for (std::size_t i = 0; i < found.ids_of(query).size(); ++i)
    row.emplace_back(found.distances_of(query)[i], found.ids_of(query)[i]);
  return row;
}

inline Row first(Row row, std::int64_t k) {
  row.resize(static_cast<std::size_t>(k));
  return row;
}

inline Row within(Row row, double radius) {
  std::erase_if(row, [&](const auto& hit) { return hit.first > radius; });
  return row;
}

// Searches of every kind by an index give what brute force does, bit for bit.
template <class Object, class Distance>
void expect_exact(const std::vector<Object>& objects, const std::vector<Object>& queries, const Distance& distance,
                  const DistanceProperties& properties, const PivotOptions& options, std::vector<std::int64_t> ks) {
  const std::span<const Object> view(objects);
  const PivotIndex<Object, Distance> index(view, distance, properties, options);
  const auto count = static_cast<std::int64_t>(objects.size());
  for (const std::int64_t k : ks) {
    const PivotNeighbors found = index.search(queries, k);
    ASSERT_EQ(found.queries, std::ssize(queries));
    for (std::int64_t q = 0; q < found.queries; ++q)
      ASSERT_EQ(row_of(found, q), first(all_distances(objects, queries[static_cast<std::size_t>(q)], distance), k))
          << "query " << q << ", k = " << k;
    if (k >= count) continue;
    const PivotNeighbors others = index.search_self(k);
    for (std::int64_t q = 0; q < count; ++q)
      ASSERT_EQ(row_of(others, q), first(all_distances(objects, objects[static_cast<std::size_t>(q)], distance, q), k))
          << "object " << q << ", k = " << k;
  }
  // A radius that is a distance, so that some lie right on it.
  const double radius = all_distances(objects, queries.front(), distance)[static_cast<std::size_t>(count / 3)].first;
  const PivotRadiusNeighbors near = index.search_radius(queries, radius);
  for (std::int64_t q = 0; q < near.queries; ++q)
    ASSERT_EQ(row_of(near, q), within(all_distances(objects, queries[static_cast<std::size_t>(q)], distance), radius))
        << "query " << q << ", radius " << radius;
  const PivotRadiusNeighbors near_self = index.search_radius_self(radius);
  for (std::int64_t q = 0; q < count; ++q)
    ASSERT_EQ(row_of(near_self, q),
              within(all_distances(objects, objects[static_cast<std::size_t>(q)], distance, q), radius))
        << "object " << q << ", radius " << radius;
}

inline std::string random_string(Random& random, std::int64_t size, std::int64_t letters) {
  std::string text;
  for (std::int64_t i = 0; i < size; ++i) text.push_back(static_cast<char>('a' + random.below(letters)));
  return text;
}

// Some made anew, some by a change or two of one before.
inline std::vector<EditText> random_texts(Random& random, std::int64_t count, std::int64_t longest,
                                          std::int64_t letters) {
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < count; ++i) {
    if (texts.empty() || random.below(3) == 0) {
      texts.push_back(random_string(random, random.below(longest + 1), letters));
      continue;
    }
    std::string text = texts[static_cast<std::size_t>(random.below(std::ssize(texts)))];
    for (std::int64_t change = random.below(3); change > 0; --change)
      text.insert(static_cast<std::size_t>(random.below(std::ssize(text) + 1)), random_string(random, 1, letters));
    texts.push_back(text);
  }
  std::vector<EditText> made;
  for (const std::string& text : texts) made.push_back(EditText::of_utf8(text));
  return made;
}

// The distance alone.
struct PlainLevenshtein {
  double operator()(const EditText& a, const EditText& b) const { return static_cast<double>(levenshtein(a, b)); }
};

using Point = std::vector<double>;

struct Euclidean {
  double operator()(const Point& a, const Point& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(sum);
  }
};

inline std::vector<Point> random_points(Random& random, std::int64_t count, std::int64_t dims) {
  std::vector<Point> points;
  for (std::int64_t i = 0; i < count; ++i) {
    Point point;
    for (std::int64_t j = 0; j < dims; ++j) point.push_back(random.uniform());
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace kith::test

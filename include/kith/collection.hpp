// Points with ids of the user's own that come and go, searched all or in part, and kept in files.
//
// A collection holds its points in segments, each a kith::Index of some of them in the order of their ids: the first is
// the points that it was made of, others are what was added since. Small segments are joined as they come, so that
// there are few of them and a point is copied a logarithmic number of times. Points that are removed are marked, and
// left behind when as many are gone as are left. Exact answers are those of an index made of the same points, id for
// id; method shifted-sort, whose answers depend on all points, has one segment that every change makes anew.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kith/export.hpp"
#include "kith/filter.hpp"
#include "kith/graph.hpp"
#include "kith/matrix.hpp"
#include "kith/options.hpp"
#include "kith/plan.hpp"
#include "kith/radius.hpp"
#include "kith/reduce.hpp"
#include "kith/search.hpp"

namespace kith {

// What comes with points, one of each for every point, or none at all.
struct PointLabels {
  // Any but −1, which marks places without a neighbor; no two alike. Without them points are numbered from 0, or from
  // the largest id on.
  std::span<const std::int64_t> ids{};
  std::span<const std::int64_t> tags{};  // for filters; 0 where there are none
};

// What a change took.
struct ChangeReport {
  std::int64_t points = 0;    // that were added, removed or replaced
  std::int64_t copied = 0;    // rows that were copied, those of joined segments included
  std::int64_t segments = 0;  // that there are now
  double seconds = 0;
};

// What the file of a collection holds.
struct CollectionInfo {
  DType dtype = DType::float32;
  std::int64_t rows = 0;
  std::int64_t dims = 0;
  Options options;       // those that decide about answers: metric, method, period and what method shifted-sort has
  bool has_ids = false;  // else points are numbered from 0
  bool has_tags = false;
  std::vector<std::string> prepared;  // what searches need not make again: "norms", "tree", "clusters"
  std::int64_t file_bytes = 0;
  int version = 0;  // of the format
};

// All functions are thread-safe. Searches see the points as they were when the call began, changes come one after the
// other, and one that fails leaves everything as it was. Points, queries and answers are host memory; backends for
// devices bring them there, as an index does.
template <Element T>
class KITH_API Collection {
 public:
  using D = DistanceOf<T>;

  // Without points.
  explicit Collection(std::int64_t dims, Options options = {});
  // Keeps a view of the points, which must outlive the collection and not change, unless their ids do not ascend: then
  // they are copied in the order of the ids.
  explicit Collection(MatrixView<T> points, PointLabels labels = {}, Options options = {});
  // Keeps the points.
  explicit Collection(Matrix<T>&& points, PointLabels labels = {}, Options options = {});
  Collection(Collection&&) noexcept;
  Collection& operator=(Collection&&) noexcept;
  ~Collection();

  std::int64_t rows() const;
  std::int64_t dims() const;
  const Options& options() const;
  bool contains(std::int64_t id) const;
  // Ascending; with a filter, which must be one for all queries, those of the points that it leaves.
  std::vector<std::int64_t> ids(const Filter& filter = {}) const;
  // The points of these ids, in their order. Error(invalid_argument) names an id that no point has.
  Matrix<T> points(std::span<const std::int64_t> ids) const;

  // Copies points, whose ids must be new.
  ChangeReport add(MatrixView<T> points, PointLabels labels = {});
  // Points of these ids, which must be there, each named once.
  ChangeReport remove(std::span<const std::int64_t> ids);
  // Puts other points in the place of those of these ids, which must be there; tags stay where none are given.
  ChangeReport update(MatrixView<T> points, PointLabels labels);
  // Joins all segments, without what was removed.
  ChangeReport compact();

  // The k nearest of each query among the points that the filter leaves. Without a filter k ≤ rows, unless
  // Options::pad_missing is set.
  Neighbors<D> search(MatrixView<T> queries, std::int64_t k, const Filter& filter = {}) const;
  // The same of each point that the filter, one for all, leaves, in the order of ids(filter), itself left out by its
  // id. k is less than their number, unless Options::pad_missing is set.
  Neighbors<D> search_self(std::int64_t k, const Filter& filter = {}) const;
  RadiusNeighbors<D> search_radius(MatrixView<T> queries, std::span<const D> radii, const Filter& filter = {},
                                   RadiusOutput output = RadiusOutput::neighbors) const;
  RadiusNeighbors<D> search_radius_self(std::span<const D> radii, const Filter& filter = {},
                                        RadiusOutput output = RadiusOutput::neighbors) const;
  // Rows are in the order of ids(filter), and indices are numbers of rows, so that it is a square matrix.
  Graph<D> graph(std::int64_t k, Symmetrize symmetrize = Symmetrize::none, const Filter& filter = {}) const;
  // `values` has a row for each point, in the order of ids(). There must be k points that the filter leaves.
  Reduced<D> reduce(MatrixView<T> queries, std::int64_t k, MatrixView<D> values, ReduceOp op,
                    const Filter& filter = {}) const;

  // The plan of a search of the largest segment.
  Plan explain(std::int64_t queries, std::int64_t k) const;

  // Writes a file, whole or not at all: what was there before stays until the new one is complete. The points are put
  // in one segment, with what their index has prepared. Options::progress, which counts bytes, may cancel it.
  void save(const std::string& path) const;
  // Maps a file of save(): its pages are read as searches need them, and must not change meanwhile. Error(bad_data) for
  // a file that is damaged, cut off, of a later version, of another byte order or of other elements, as far as its head
  // tells; that of ids, trees and clusters comes with the first call that needs them. `verify` reads all of it and
  // compares every checksum. Points are not looked at for NaN again: they were when the collection was made. Of the
  // options those that the file has are taken from it.
  static Collection load(const std::string& path, const Options& options = {}, bool verify = false);

 private:
  struct State;
  explicit Collection(std::unique_ptr<State> state);
  State& state() const;

  std::unique_ptr<State> state_;
};

KITH_API CollectionInfo collection_info(const std::string& path);

}  // namespace kith

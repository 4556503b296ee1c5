// collection.hpp: what a kith_collection stands for: one of kith::Collection for each type of points.
#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "c/call.hpp"
#include "kith/collection.hpp"

namespace kith::c {

using CollectionObject = std::variant<Collection<float>, Collection<double>, Collection<std::uint8_t>,
                                      Collection<std::int8_t>, Collection<Float16>, Collection<BFloat16>>;

// Throws Error(invalid_argument) for what is no handle of a collection.
std::shared_ptr<CollectionObject> collection_of(const kith_collection* collection);

// `work(collection)` of the collection, which stays until it returns.
template <class Work>
kith_status with_collection(const kith_collection* collection, Work work) noexcept {
  return call([&] {
    const auto object = collection_of(collection);
    std::visit(work, *object);
  });
}

}  // namespace kith::c

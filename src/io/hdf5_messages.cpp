#include "io/hdf5_messages.hpp"

#include <limits>

namespace kith::io {
namespace {

constexpr std::string_view kSuperblock = "\x89HDF\r\n\x1a\n";
constexpr std::uint64_t kContinuation = 0x10;

// How messages lie in the blocks of an object header: version 2 of headers has shorter ones, and blocks that begin with
// a signature and end with a checksum.
struct HeaderForm {
  bool second = false;
  bool has_order = false;  // messages carry the order of their creation

  std::uint64_t prefix() const { return second ? (has_order ? 6 : 4) : 8; }
};

// Leaves `header` at its first message.
HeaderForm read_prefix(Hdf5Fields& header, std::uint64_t& size) {
  HeaderForm form;
  form.second = header.skip("OHDR");
  if (!form.second) {
    header.skip(8);  // version, number of messages, references
    size = header.number(4);
    header.skip(4);
    return form;
  }
  header.skip(1);
  const std::uint64_t flags = header.number(1);
  form.has_order = (flags & 0x04) != 0;
  header.skip(((flags & 0x20) != 0 ? 16 : 0) + ((flags & 0x10) != 0 ? 4 : 0));
  size = header.number(std::uint64_t{1} << (flags & 3));
  return form;
}

Hdf5Message read_message(const HeaderForm& form, Hdf5Fields& block) {
  const std::uint64_t type = block.number(form.second ? 1 : 2);
  const std::uint64_t size = block.number(2);
  const std::uint64_t flags = block.number(1);
  block.skip(form.second ? (form.has_order ? 2 : 0) : 3);
  return {type, flags, block.piece(size)};
}

}  // namespace

Hdf5Metadata::Hdf5Metadata(const Source& source) : source_(source) {
  while (!at(0).skip(kSuperblock)) {
    base_ = base_ == 0 ? 512 : 2 * base_;
    if (base_ > source.size()) fail(source, "no superblock");
  }
  Hdf5Fields block = at(kSuperblock.size());
  const std::uint64_t version = block.number(1);
  block.skip(version < 2 ? 4 : 0);
  if (block.number(1) != 8 || block.number(1) != 8) fail(source, "addresses and lengths of other sizes");
  block.skip(version == 0 ? 49 : version == 1 ? 53 : 25);
  root_ = block.number(8);
}

Hdf5Fields Hdf5Metadata::at(std::uint64_t address) const {
  const bool outside = address > std::numeric_limits<std::uint64_t>::max() - base_;
  return {source_, outside ? address : base_ + address};
}

std::vector<Hdf5Message> Hdf5Metadata::root_messages() const {
  Hdf5Fields header = at(root_);
  std::uint64_t size = 0;
  const HeaderForm form = read_prefix(header, size);
  std::vector<Hdf5Fields> blocks = {header.piece(size)};
  std::vector<Hdf5Message> messages;
  std::uint64_t total = size;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    while (blocks[i].left() >= form.prefix()) {
      Hdf5Message message = read_message(form, blocks[i]);
      if (message.type != kContinuation) {
        messages.push_back(message);
        continue;
      }
      Hdf5Fields block = at(message.body.number(8));
      const std::uint64_t length = message.body.number(8);
      // Blocks do not overlap; those of a file that is in order do not exceed it.
      total += length;
      if (length > source_.size() || total > source_.size()) fail(source_, "the root group's header is too long");
      if (form.second && !block.skip("OCHK")) fail(source_, "a part of the root group's header is missing");
      constexpr std::uint64_t kSignatureAndChecksum = 8;
      const std::uint64_t around = form.second ? kSignatureAndChecksum : 0;
      if (length < around) fail(source_, "a part of the root group's header is too short");
      blocks.push_back(block.piece(length - around));
    }
  }
  return messages;
}

std::string_view Hdf5Metadata::heap_object(std::uint64_t address, std::uint64_t index) const {
  Hdf5Fields heap = at(address);
  if (!heap.skip("GCOL")) fail(source_, "no heap where one should be");
  heap.skip(4);
  constexpr std::uint64_t kHeader = 16;
  const std::uint64_t size = heap.number(8);
  heap = heap.piece(size - std::min(size, kHeader));
  while (heap.left() >= kHeader) {
    const std::uint64_t object = heap.number(2);
    heap.skip(6);
    const std::uint64_t length = heap.number(8);
    if (object == 0) break;  // what is left of the heap is free
    const Hdf5Fields data = heap.piece(length, 8);
    if (object == index) return data.text();
  }
  fail(source_, "a heap has no object " + std::to_string(index));
}

}  // namespace kith::io

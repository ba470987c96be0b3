#include "batch/tree_store.h"

namespace groundmetric {
namespace {

constexpr std::size_t kBlock = 32768;  // nodes, 64 KB
// Larger trees get a block of their own, so that at most this much of a shared
// block is wasted.
constexpr std::size_t kLarge = kBlock / 16;

}  // namespace

Node* TreeStore::allocate(std::size_t n) {
    const std::lock_guard lock(mutex_);
    if (n > kLarge) return new_block(n);
    if (n > n_free_) {
        free_ = new_block(kBlock);
        n_free_ = kBlock;
    }
    Node* const room = free_;
    free_ += n;
    n_free_ -= n;
    return room;
}

Node* TreeStore::new_block(std::size_t n) {
    blocks_.push_back(std::make_unique_for_overwrite<Node[]>(n));
    n_nodes_ += n;
    return blocks_.back().get();
}

void TreeStore::clear() noexcept {
    blocks_.clear();
    n_nodes_ = 0;
    free_ = nullptr;
    n_free_ = 0;
}

std::size_t TreeStore::n_bytes() const {
    return sizeof(*this) + blocks_.capacity() * sizeof(blocks_[0]) +
           n_nodes_ * sizeof(Node);
}

}  // namespace groundmetric

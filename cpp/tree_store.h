// Room for the trees that a batch keeps.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "tree.h"

namespace groundmetric {

// Hands out room that lasts until clear(), in blocks: a tree of its own would
// cost each pair the bookkeeping of malloc, and clear() a long time.
class TreeStore {
public:
    // Room for n nodes; any thread may ask.
    Node* allocate(std::size_t n);
    void clear() noexcept;
    std::size_t n_bytes() const;

private:
    Node* new_block(std::size_t n);

    std::mutex mutex_;
    std::vector<std::unique_ptr<Node[]>> blocks_;
    std::size_t n_nodes_ = 0;  // of all blocks
    Node* free_ = nullptr;     // in the newest common block
    std::size_t n_free_ = 0;
};

}  // namespace groundmetric

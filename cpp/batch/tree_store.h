// Memory for the trees that a batch keeps.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/tree.h"

namespace groundmetric {

// Allocates memory in blocks, all freed by clear(): a separate allocation per
// pair would cost the bookkeeping of malloc, and make clear() slow.
class TreeStore {
public:
    // Memory for n nodes; may be called from any thread.
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

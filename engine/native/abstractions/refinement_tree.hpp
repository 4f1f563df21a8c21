// Which abstract state a state belongs to: a binary tree with a question about one variable in every inner
// node. Abstract states are leaves; a leaf that is split becomes an inner node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/state_packing.hpp"

namespace plumbline {

class RefinementTree {
 public:
  // Abstract state 0 is everything.
  RefinementTree() : nodes_{leaf(0)}, leaf_of_{0} {}

  // States of `split` whose value is among these (ascending) go to the new abstract state.
  void split(std::int32_t abstract_state, std::int32_t variable, std::span<const std::int32_t> values) {
    std::int32_t node = leaf_of_[index(abstract_state)];
    const auto n_states = static_cast<std::int32_t>(leaf_of_.size());
    const std::int32_t inside = add(leaf(n_states));
    leaf_of_.push_back(inside);
    for (std::size_t i = 0; i < values.size();) {
      const std::int32_t block = values[i] >> 6;
      Word bits = 0;
      for (; i < values.size() && values[i] >> 6 == block; ++i) bits |= Word{1} << (values[i] & 63);
      const std::int32_t outside = add(leaf(abstract_state));
      nodes_[index(node)] = {bits, variable, block, inside, outside};
      node = outside;  // values of several blocks: one node asks after the other
    }
    leaf_of_[index(abstract_state)] = node;
  }

  std::int32_t abstract_state(const std::int32_t* values) const {
    const Node* node = nodes_.data();
    while (node->variable >= 0) {
      const std::int32_t value = values[node->variable];
      const bool is_inside = value >> 6 == node->block && (node->values >> (value & 63) & 1) != 0;
      node = nodes_.data() + (is_inside ? node->inside : node->outside);
    }
    return node->inside;
  }

  std::size_t bytes() const { return nodes_.size() * sizeof(Node) + leaf_of_.size() * sizeof(std::int32_t); }

 private:
  struct Node {
    Word values;            // of the block
    std::int32_t variable;  // -1: a leaf
    std::int32_t block;     // of 64 values
    std::int32_t inside;    // a node; in a leaf the abstract state
    std::int32_t outside;
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  static Node leaf(std::int32_t abstract_state) { return {0, -1, 0, abstract_state, 0}; }
  std::int32_t add(Node node) {
    nodes_.push_back(node);
    return static_cast<std::int32_t>(nodes_.size()) - 1;
  }

  std::vector<Node> nodes_;
  std::vector<std::int32_t> leaf_of_;  // by abstract state
};

}  // namespace plumbline

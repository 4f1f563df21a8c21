// How merge-and-shrink finds the abstract state of a state: a table per variable, and for every product a
// table by pairs of abstract states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace plumbline {

class MergeTree {
 public:
  static constexpr std::int32_t kPruned = -1;

  // Returns the node.
  std::int32_t add_variable(std::int32_t variable, std::int32_t n_values) {
    Node node{variable, kNoNode, 1, std::vector<std::int32_t>(static_cast<std::size_t>(n_values))};
    std::iota(node.table.begin(), node.table.end(), 0);
    nodes_.push_back(std::move(node));
    return static_cast<std::int32_t>(nodes_.size()) - 1;
  }

  std::int32_t add_product(std::int32_t left, std::int32_t n_left, std::int32_t right, std::int32_t n_right) {
    const std::int32_t node = add_variable(left, n_left * n_right);
    nodes_.back().right = right;
    nodes_.back().width = n_right;
    return node;
  }

  void rename(std::int32_t node, std::span<const std::int32_t> name) {
    for (std::int32_t& state : nodes_[static_cast<std::size_t>(node)].table) {
      if (state != kPruned) state = name[static_cast<std::size_t>(state)];
    }
  }

  std::int32_t state(std::int32_t number, const std::int32_t* values) const {
    const Node& node = nodes_[static_cast<std::size_t>(number)];
    if (node.right == kNoNode) return node.table[static_cast<std::size_t>(values[node.left])];
    const std::int32_t left = state(node.left, values);
    if (left == kPruned) return kPruned;
    const std::int32_t right = state(node.right, values);
    if (right == kPruned) return kPruned;
    return node.table[static_cast<std::size_t>(left * node.width + right)];
  }

  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Node& node : nodes_) sum += sizeof(Node) + node.table.size() * sizeof(std::int32_t);
    return sum;
  }

 private:
  static constexpr std::int32_t kNoNode = -1;
  struct Node {
    std::int32_t left;  // a node; without a right one a variable
    std::int32_t right;
    std::int32_t width;  // abstract states of the right one
    std::vector<std::int32_t> table;
  };

  std::vector<Node> nodes_;
};

}  // namespace plumbline

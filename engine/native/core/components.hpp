// Strongly connected components.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace plumbline {

// The strongly connected components of a graph (Tarjan 1972, "Depth-First Search and Linear Graph
// Algorithms"), each after those that lead to it.
class Components {
 public:
  explicit Components(const std::vector<std::vector<std::int32_t>>& successors)
      : successors_(successors), order_(successors.size(), kUnseen), low_(successors.size()) {
    for (std::int32_t v = 0; v < static_cast<std::int32_t>(successors.size()); ++v) {
      if (order_[index(v)] == kUnseen) visit(v);
    }
    std::ranges::reverse(components_);
  }

  const std::vector<std::vector<std::int32_t>>& all() const { return components_; }

 private:
  static constexpr std::int32_t kUnseen = -1;
  static constexpr std::int32_t kDone = std::numeric_limits<std::int32_t>::max();
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  // Without recursion: chains of dependencies can be long.
  void visit(std::int32_t root) {
    std::vector<std::pair<std::int32_t, std::size_t>> path;  // and the next successor to look at
    const auto enter = [&](std::int32_t v) {
      order_[index(v)] = low_[index(v)] = next_++;
      stack_.push_back(v);
      path.emplace_back(v, 0);
    };
    enter(root);
    while (!path.empty()) {
      const std::int32_t v = path.back().first;
      if (path.back().second < successors_[index(v)].size()) {
        const std::int32_t successor = successors_[index(v)][path.back().second++];
        if (order_[index(successor)] == kUnseen) {
          enter(successor);
        } else if (order_[index(successor)] != kDone) {
          low_[index(v)] = std::min(low_[index(v)], order_[index(successor)]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        std::int32_t& low = low_[index(path.back().first)];
        low = std::min(low, low_[index(v)]);
      }
      if (low_[index(v)] == order_[index(v)]) close(v);
    }
  }

  void close(std::int32_t root) {
    std::vector<std::int32_t> component;
    do {
      component.push_back(stack_.back());
      order_[index(stack_.back())] = kDone;
      stack_.pop_back();
    } while (component.back() != root);
    components_.push_back(std::move(component));
  }

  const std::vector<std::vector<std::int32_t>>& successors_;
  std::vector<std::int32_t> order_;
  std::vector<std::int32_t> low_;
  std::vector<std::int32_t> stack_;
  std::int32_t next_ = 0;
  std::vector<std::vector<std::int32_t>> components_;
};

}  // namespace plumbline

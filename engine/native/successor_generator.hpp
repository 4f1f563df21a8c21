// Finds the applicable operators of a packed state by a decision tree over the variables, flattened into one
// array. Operators are renumbered in the order of the tree, so that those of one leaf lie side by side and
// whatever belongs to them (masks, costs) is read in sequence.
//
// As in Fast Downward's successor generator a node tests one variable and has one branch for operators that do not
// care; here the variables that most operators ask for come first, which keeps the tree shallow.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "state_packing.hpp"
#include "task.hpp"

namespace plumbline {

class SuccessorGenerator {
 public:
  SuccessorGenerator(const Task& task, const StatePacking& packing) {
    const Conditions conditions = sorted_conditions(task);
    order_.resize(conditions.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&conditions](std::int32_t a, std::int32_t b) {
      return conditions[static_cast<std::size_t>(a)] < conditions[static_cast<std::size_t>(b)];
    });
    build(Builder{conditions, packing}, 0, order_.size(), 0);
  }

  // The task's operators in the order of the tree.
  const std::vector<std::int32_t>& order() const { return order_; }

  // Calls visit(begin, end) for ranges of positions in `order`: together the operators applicable in the state.
  template <class Visit>
  void for_each_applicable(const Word* words, Visit&& visit) const {
    std::int32_t small_stack[kSmallStack];
    std::vector<std::int32_t> large_stack;
    std::int32_t* stack = small_stack;
    if (stack_size_ > kSmallStack) {
      large_stack.resize(stack_size_);
      stack = large_stack.data();
    }
    std::size_t height = 0;
    std::int32_t offset = 0;
    while (true) {
      const Node* node = reinterpret_cast<const Node*>(nodes_.data() + offset);
      if (node->begin != node->end) visit(node->begin, node->end);
      const auto value = static_cast<std::uint32_t>(words[node->word] >> node->shift) & node->mask;
      const std::uint32_t branch = value - node->first;
      const std::int32_t child = branch < node->span ? nodes_[static_cast<std::size_t>(offset) + kHeader + branch] : 0;
      if (child != 0) {
        if (node->otherwise != 0) stack[height++] = node->otherwise;
        offset = child;
      } else if (node->otherwise != 0) {
        offset = node->otherwise;
      } else if (height > 0) {
        offset = stack[--height];
      } else {
        return;
      }
    }
  }

 private:
  // A node and then `span` children for the values first, first + 1, ...; offset 0 (the root) means no child.
  struct Node {
    std::uint32_t word;
    std::uint32_t shift;
    std::uint32_t mask;
    std::uint32_t first;
    std::uint32_t span;
    std::int32_t begin;  // operators without further preconditions
    std::int32_t end;
    std::int32_t otherwise;  // operators that do not care about the variable
  };
  static constexpr std::size_t kHeader = sizeof(Node) / sizeof(std::int32_t);
  static constexpr std::size_t kSmallStack = 256;
  // Wider gaps between the values that operators ask for are bridged by `otherwise` instead of empty children.
  static constexpr std::int32_t kWidestGap = 8;

  struct Condition {
    std::int32_t rank;  // variables by how many operators ask for them
    std::int32_t variable;
    std::int32_t value;
    auto operator<=>(const Condition&) const = default;
  };
  using Conditions = std::vector<std::vector<Condition>>;  // by operator, each sorted by rank

  struct Builder {
    const Conditions& conditions;
    const StatePacking& packing;
  };

  static Conditions sorted_conditions(const Task& task) {
    std::vector<std::int32_t> demand(static_cast<std::size_t>(task.n_variables()));
    for (const Fact fact : task.preconditions.facts) ++demand[static_cast<std::size_t>(fact.variable)];
    std::vector<std::int32_t> by_demand(demand.size());
    std::iota(by_demand.begin(), by_demand.end(), 0);
    std::stable_sort(by_demand.begin(), by_demand.end(), [&demand](std::int32_t a, std::int32_t b) {
      return demand[static_cast<std::size_t>(a)] > demand[static_cast<std::size_t>(b)];
    });
    std::vector<std::int32_t> rank(demand.size());
    for (std::size_t i = 0; i < by_demand.size(); ++i) {
      rank[static_cast<std::size_t>(by_demand[i])] = static_cast<std::int32_t>(i);
    }
    Conditions conditions(static_cast<std::size_t>(task.n_operators()));
    for (std::int32_t op = 0; op < task.n_operators(); ++op) {
      auto& own = conditions[static_cast<std::size_t>(op)];
      for (const Fact fact : task.preconditions[op]) {
        own.push_back({rank[static_cast<std::size_t>(fact.variable)], fact.variable, fact.value});
      }
      std::sort(own.begin(), own.end());
    }
    return conditions;
  }

  // Appends the subtree for the operators order_[begin, end), which share their first `depth` conditions.
  std::int32_t build(const Builder& builder, std::size_t begin, std::size_t end, std::size_t depth) {
    stack_size_ = std::max(stack_size_, depth + 1);
    const auto condition = [&](std::size_t position) -> const Condition& {
      return builder.conditions[static_cast<std::size_t>(order_[position])][depth];
    };
    std::size_t split = begin;
    while (split < end && builder.conditions[static_cast<std::size_t>(order_[split])].size() == depth) ++split;
    const std::int32_t root = add_node(begin, split);
    for (std::int32_t here = root; split < end;) {
      if (here != root || node(root).span > 0) {
        const std::int32_t next = add_node(split, split);
        node(here).otherwise = next;
        here = next;
      }
      std::size_t last = split + 1;
      while (last < end && condition(last).variable == condition(split).variable &&
             condition(last).value - condition(last - 1).value <= kWidestGap) {
        ++last;
      }
      const std::int32_t first = condition(split).value;
      const std::size_t children = add_test(here, builder.packing.slot(condition(split).variable), first,
                                            condition(last - 1).value - first + 1);
      while (split < last) {
        const std::int32_t value = condition(split).value;
        std::size_t same = split + 1;
        while (same < last && condition(same).value == value) ++same;
        const std::int32_t child = build(builder, split, same, depth + 1);
        nodes_[children + static_cast<std::size_t>(value - first)] = child;
        split = same;
      }
    }
    return root;
  }

  std::int32_t add_node(std::size_t begin, std::size_t end) {
    const auto offset = static_cast<std::int32_t>(nodes_.size());
    nodes_.resize(nodes_.size() + kHeader);
    node(offset).begin = static_cast<std::int32_t>(begin);
    node(offset).end = static_cast<std::int32_t>(end);
    return offset;
  }

  std::size_t add_test(std::int32_t offset, const Slot& slot, std::int32_t first, std::int32_t span) {
    node(offset).word = static_cast<std::uint32_t>(slot.word);
    node(offset).shift = static_cast<std::uint32_t>(slot.shift);
    node(offset).mask = static_cast<std::uint32_t>(slot.mask);
    node(offset).first = static_cast<std::uint32_t>(first);
    node(offset).span = static_cast<std::uint32_t>(span);
    const std::size_t children = nodes_.size();
    nodes_.resize(children + static_cast<std::size_t>(span));
    return children;
  }

  Node& node(std::int32_t offset) { return *reinterpret_cast<Node*>(nodes_.data() + offset); }

  std::vector<std::int32_t> nodes_;
  std::vector<std::int32_t> order_;
  std::size_t stack_size_ = 1;
};

}  // namespace plumbline

// Finds the applicable operators of a packed state. Up to 64 operators form a block, one bit each: every
// variable they ask for contributes a mask of those that its value permits, and the masks are intersected;
// there is hardly a jump that the processor could guess wrongly. Where more operators ask for the same
// variable, a decision tree as in Fast Downward's successor generator leads to the blocks: one branch per
// value, one for operators that do not care.
//
// Operators are renumbered so that those of a block lie side by side; whatever belongs to them (effects,
// costs) is best kept in that order.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/state_packing.hpp"
#include "core/task.hpp"

namespace plumbline {

class SuccessorGenerator {
 public:
  SuccessorGenerator(const Task& task, const StatePacking& packing) : packing_(packing) {
    const Conditions conditions = sorted_conditions(task);
    order_.resize(conditions.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&conditions](std::int32_t a, std::int32_t b) {
      return conditions[static_cast<std::size_t>(a)] < conditions[static_cast<std::size_t>(b)];
    });
    build(conditions, 0, order_.size(), 0);
  }

  // The task's operators in the order of the blocks.
  const std::vector<std::int32_t>& order() const { return order_; }

  // Calls visit(first, bits): for every set bit i the operator at position first + i is applicable in the
  // state.
  template <class Visit>
  void for_each_block(const Word* words, Visit&& visit) const {
    std::uint32_t small_stack[kSmallStack];
    std::vector<std::uint32_t> large_stack;
    std::uint32_t* stack = small_stack;
    if (stack_size_ > kSmallStack) {
      large_stack.resize(stack_size_);
      stack = large_stack.data();
    }
    std::size_t height = 0;
    const Node* node = nodes_.data();
    while (true) {
      std::uint64_t bits = node->block;
      for (std::uint32_t i = node->tests_begin; i < node->tests_end && bits != 0; ++i) {
        bits &= masks_[tests_[i].entry(words)];
      }
      if (bits != 0) visit(node->first_operator, bits);
      const std::uint32_t child = node->decision.span > 0 ? children_[node->decision.entry(words)] : kNone;
      if (child != kNone) {
        if (node->otherwise != kNone) stack[height++] = node->otherwise;
        node = nodes_.data() + child;
      } else if (node->otherwise != kNone) {
        node = nodes_.data() + node->otherwise;
      } else if (height > 0) {
        node = nodes_.data() + stack[--height];
      } else {
        return;
      }
    }
  }

  // Calls visit(begin, end) for ranges of positions: together the operators applicable in the state.
  template <class Visit>
  void for_each_applicable(const Word* words, Visit&& visit) const {
    for_each_block(words, [&visit](std::size_t first, std::uint64_t bits) {
      while (bits != 0) {
        const int skipped = std::countr_zero(bits);
        const int run = std::countr_one(bits >> skipped);
        const auto begin = static_cast<std::int32_t>(first) + skipped;
        visit(begin, begin + run);
        if (skipped + run == 64) break;
        bits &= ~std::uint64_t{0} << (skipped + run);
      }
    });
  }

 private:
  static constexpr std::uint32_t kNone = 0;  // the root is no node's child
  static constexpr std::size_t kBlock = 64;
  static constexpr std::size_t kSmallStack = 64;
  // Wider gaps between the values that operators ask for are bridged by another test instead of unused
  // entries.
  static constexpr std::int32_t kWidestGap = 8;

  // Leads from the value of a variable to an entry of a table: `span` entries for the values from `first` on,
  // and one more for all others.
  struct Test {
    std::uint32_t word = 0;
    std::uint32_t shift = 0;
    std::uint32_t mask = 0;
    std::uint32_t first = 0;
    std::uint32_t span = 0;
    std::uint32_t table = 0;

    std::size_t entry(const Word* words) const {
      const std::uint32_t value = static_cast<std::uint32_t>(words[word] >> shift) & mask;
      return std::size_t{table} + std::min(value - first, span);
    }
    std::size_t entry_of(std::int32_t value) const {
      return std::size_t{table} + static_cast<std::uint32_t>(value) - first;
    }
  };

  // A block of operators, then a decision that leads to a child, then the rest of the operators; each can be
  // missing.
  struct Node {
    std::uint64_t block = 0;
    std::uint32_t first_operator = 0;
    std::uint32_t tests_begin = 0;
    std::uint32_t tests_end = 0;
    std::uint32_t otherwise = kNone;
    Test decision;
  };

  struct Condition {
    std::int32_t rank;  // of the variable: those that most operators ask for come first
    std::int32_t variable;
    std::int32_t value;
    auto operator<=>(const Condition&) const = default;
  };
  using Conditions = std::vector<std::vector<Condition>>;  // by operator, each sorted by rank

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

  std::span<const Condition> conditions_at(const Conditions& conditions, std::size_t position,
                                           std::size_t depth) const {
    return std::span(conditions[static_cast<std::size_t>(order_[position])]).subspan(depth);
  }

  // Appends a tree for the operators at [begin, end), which share their first `depth` conditions; returns its
  // root.
  std::uint32_t build(const Conditions& conditions, std::size_t begin, std::size_t end, std::size_t depth) {
    stack_size_ = std::max(stack_size_, depth + 1);
    const auto root = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    for (std::uint32_t here = root;;) {
      std::size_t group = group_end(conditions, begin, end, depth);
      std::size_t block_end = begin;
      while (block_end < end && group - begin <= kBlock) {
        block_end = group;
        group = group_end(conditions, block_end, end, depth);
      }
      if (block_end < end && conditions_at(conditions, block_end, depth).empty()) block_end = begin + kBlock;
      add_block(conditions, here, begin, block_end, depth);
      begin = block_end;
      if (group - begin > kBlock && !conditions_at(conditions, begin, depth).empty()) {
        begin = add_decision(conditions, here, begin, group, depth);
      }
      if (begin == end) return root;
      const auto next = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
      nodes_[here].otherwise = next;
      here = next;
    }
  }

  // The end of the operators that ask for the same variable next, or have no condition left.
  std::size_t group_end(const Conditions& conditions, std::size_t begin, std::size_t end,
                        std::size_t depth) const {
    const auto variable = [&](std::size_t position) {
      const auto left = conditions_at(conditions, position, depth);
      return left.empty() ? -1 : left.front().variable;
    };
    std::size_t last = begin;
    while (last < end && variable(last) == variable(begin)) ++last;
    return last;
  }

  // Gives the node the operators at [begin, end), at most 64, as a block.
  void add_block(const Conditions& conditions, std::uint32_t node, std::size_t begin, std::size_t end,
                 std::size_t depth) {
    struct Demand {
      std::int32_t variable;
      std::int32_t value;
      std::uint64_t bit;
      auto operator<=>(const Demand&) const = default;
    };
    struct Asked {
      int count;
      Test test;
    };
    if (begin == end) return;
    std::vector<Demand> demands;
    for (std::size_t i = begin; i < end; ++i) {
      for (const Condition& condition : conditions_at(conditions, i, depth)) {
        demands.push_back({condition.variable, condition.value, std::uint64_t{1} << (i - begin)});
      }
    }
    std::sort(demands.begin(), demands.end());
    const std::uint64_t all = ~std::uint64_t{0} >> (kBlock - (end - begin));
    std::vector<Asked> asked;
    for (std::size_t first = 0; first < demands.size();) {
      std::uint64_t asking = 0;
      std::size_t last = first;
      do {
        asking |= demands[last++].bit;
      } while (last < demands.size() && demands[last].variable == demands[first].variable &&
               demands[last].value - demands[last - 1].value <= kWidestGap);
      const Test test =
          make_test(demands[first].variable, demands[first].value, demands[last - 1].value, masks_.size());
      masks_.resize(masks_.size() + test.span + 1, all & ~asking);
      for (; first < last; ++first) masks_[test.entry_of(demands[first].value)] |= demands[first].bit;
      asked.push_back({std::popcount(asking), test});
    }
    // What most operators ask for is most likely to empty the block.
    std::stable_sort(asked.begin(), asked.end(),
                     [](const Asked& a, const Asked& b) { return a.count > b.count; });
    nodes_[node].block = all;
    nodes_[node].first_operator = static_cast<std::uint32_t>(begin);
    nodes_[node].tests_begin = static_cast<std::uint32_t>(tests_.size());
    for (const Asked& each : asked) tests_.push_back(each.test);
    nodes_[node].tests_end = static_cast<std::uint32_t>(tests_.size());
  }

  // Gives the node a decision on the variable that the operators at [begin, end) ask for next; returns the
  // first operator it does not lead to.
  std::size_t add_decision(const Conditions& conditions, std::uint32_t node, std::size_t begin,
                           std::size_t end, std::size_t depth) {
    const auto value_at = [&](std::size_t position) {
      return conditions_at(conditions, position, depth).front().value;
    };
    std::size_t last = begin + 1;
    while (last < end && value_at(last) - value_at(last - 1) <= kWidestGap) ++last;
    const std::int32_t variable = conditions_at(conditions, begin, depth).front().variable;
    const Test test = make_test(variable, value_at(begin), value_at(last - 1), children_.size());
    children_.resize(children_.size() + test.span + 1, kNone);
    nodes_[node].decision = test;
    while (begin < last) {
      const std::int32_t value = value_at(begin);
      std::size_t same = begin + 1;
      while (same < last && value_at(same) == value) ++same;
      const std::uint32_t child = build(conditions, begin, same, depth + 1);
      children_[test.entry_of(value)] = child;
      begin = same;
    }
    return last;
  }

  Test make_test(std::int32_t variable, std::int32_t first, std::int32_t last, std::size_t table) const {
    const Slot& slot = packing_.slot(variable);
    return {static_cast<std::uint32_t>(slot.word),        static_cast<std::uint32_t>(slot.shift),
            static_cast<std::uint32_t>(slot.mask),        static_cast<std::uint32_t>(first),
            static_cast<std::uint32_t>(last - first + 1), static_cast<std::uint32_t>(table)};
  }

  const StatePacking& packing_;
  std::vector<Node> nodes_;
  std::vector<Test> tests_;
  std::vector<std::uint64_t> masks_;     // tables of the tests of blocks
  std::vector<std::uint32_t> children_;  // tables of the decisions
  std::vector<std::int32_t> order_;
  std::size_t stack_size_ = 1;
};

}  // namespace plumbline

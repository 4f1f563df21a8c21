// What can be reached when nothing is ever lost, with one fact left out: the landmarks among the facts of one
// relaxed plan, and what can be true before a fact is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/task.hpp"

namespace plumbline {

class RelaxedReachability {
 public:
  static constexpr std::int32_t kNone = -1;
  // The avoided fact never becomes true; or operators that would make it true do nothing at all.
  enum class Avoid { kFact, kOperators };

  explicit RelaxedReachability(const Task& task) : task_(task), users_(index(task.n_facts())) {
    for (std::int32_t op = 0; op < task.n_operators(); ++op) {
      for (const Fact fact : task.preconditions[op]) users_[index(task.fact_number(fact))].push_back(op);
    }
  }

  // By fact number.
  std::vector<bool> reached(std::span<const std::int32_t> start, std::int32_t avoided = kNone,
                            Avoid avoid = Avoid::kFact) {
    explore(start, avoided, avoid);
    std::vector<bool> result(achiever_.size());
    for (std::size_t fact = 0; fact < result.size(); ++fact) result[fact] = achiever_[fact] != kUnreached;
    return result;
  }

  // Facts of a relaxed plan, ascending: its preconditions and the goal. The goal must be reachable.
  std::vector<std::int32_t> facts_of_plan(std::span<const std::int32_t> start, std::span<const Fact> goal) {
    explore(start, kNone, Avoid::kFact);
    std::vector<char> is_listed(achiever_.size());
    std::vector<std::int32_t> facts;
    const auto list = [&](std::span<const Fact> more) {
      for (const Fact fact : more) {
        const std::int32_t number = task_.fact_number(fact);
        if (!is_listed[index(number)]) facts.push_back(number);
        is_listed[index(number)] = 1;
      }
    };
    list(goal);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const std::int32_t op = achiever_[index(facts[i])];
      if (op >= 0) list(task_.preconditions[op]);
    }
    std::ranges::sort(facts);
    return facts;
  }

 private:
  static constexpr std::int32_t kUnreached = -2;
  static constexpr std::int32_t kAtStart = -1;

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  void explore(std::span<const std::int32_t> start, std::int32_t avoided, Avoid avoid) {
    achiever_.assign(index(task_.n_facts()), kUnreached);
    queue_.clear();
    const auto reach = [&](std::int32_t fact, std::int32_t op) {
      if (fact == avoided || achiever_[index(fact)] != kUnreached) return;
      achiever_[index(fact)] = op;
      queue_.push_back(fact);
    };
    const auto fire = [&](std::int32_t op) {
      const auto effects = task_.effects[op];
      if (avoid == Avoid::kOperators && avoided != kNone &&
          std::ranges::any_of(effects, [&](Fact fact) { return task_.fact_number(fact) == avoided; })) {
        return;
      }
      for (const Fact fact : effects) reach(task_.fact_number(fact), op);
    };
    unsatisfied_.resize(index(task_.n_operators()));
    for (std::size_t v = 0; v < start.size(); ++v) reach(task_.fact_offset[v] + start[v], kAtStart);
    for (std::int32_t op = 0; op < task_.n_operators(); ++op) {
      unsatisfied_[index(op)] = static_cast<std::int32_t>(task_.preconditions[op].size());
      if (unsatisfied_[index(op)] == 0) fire(op);
    }
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      for (const std::int32_t op : users_[index(queue_[i])]) {
        if (--unsatisfied_[index(op)] == 0) fire(op);
      }
    }
  }

  const Task& task_;
  std::vector<std::vector<std::int32_t>> users_;  // by fact: the operators it is a precondition of
  std::vector<std::int32_t> achiever_;            // by fact
  std::vector<std::int32_t> unsatisfied_;         // by operator
  std::vector<std::int32_t> queue_;
};

}  // namespace plumbline

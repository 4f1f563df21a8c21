// Fuzzes the C interface with libFuzzer under the address and undefined-behavior sanitizers: bytes become
// arrays of sizes that fit, as Python makes them, with any contents. Whatever is accepted is used, and
// answers are held against each other. See CONTRIBUTING.md, "Fuzzing".
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

// With the code itself, so that its declarations exist once.
#include "dominance/comparison.hpp"
#include "interface/abstractions.cpp"
#include "interface/bounds.cpp"
#include "interface/dominance.cpp"
#include "interface/fuzzing.cpp"
#include "interface/networks.cpp"
#include "interface/oracles.cpp"
#include "interface/policies.cpp"
#include "interface/tasks_and_searches.cpp"
#include "tests/random_task.hpp"

namespace {

constexpr std::int64_t kMostFacts = 4096;  // larger ones only cost time
constexpr std::int32_t kFirstAbstraction = kNumHeuristics - 2;

// Zeros follow the last byte.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}

  std::int32_t byte() { return data_ < end_ ? *data_++ : 0; }
  std::int32_t below(std::int32_t n) { return byte() % n; }

  template <class Number>
  Number any() {
    Number number = 0;
    std::uint8_t raw[sizeof(Number)] = {};
    for (std::uint8_t& part : raw) part = static_cast<std::uint8_t>(byte());
    std::memcpy(&number, raw, sizeof(Number));
    return number;
  }

  // Mostly a number below n, now and then any.
  std::int32_t wild(std::int32_t n) {
    const std::int32_t choice = byte();
    return choice < 250 ? choice % n : any<std::int32_t>();
  }

  // Mostly a number from `first` on, now and then any.
  std::int32_t wild(std::int32_t first, std::int32_t end) {
    const std::int32_t choice = byte();
    return choice < 250 ? first + choice % (end - first) : any<std::int32_t>();
  }

 private:
  const std::uint8_t* data_;
  const std::uint8_t* end_;
};

struct Rows {
  std::vector<std::int32_t> begin{0};
  std::vector<std::int32_t> pairs;

  void add(Bytes& bytes, const std::vector<std::int32_t>& sizes, std::int32_t most) {
    const auto n = static_cast<std::int32_t>(sizes.size());
    for (std::int32_t i = bytes.below(most + 1), v = bytes.wild(n); i > 0; --i) {
      const std::int32_t size = v >= 0 && v < n ? sizes[static_cast<std::size_t>(v)] : 1;
      pairs.insert(pairs.end(), {v, bytes.wild(size > 0 ? size : 1)});
      const std::int32_t step = bytes.wild(3);
      v = v >= 0 && v < n && step >= 0 && step < n ? v + 1 + step : step;
    }
    begin.push_back(static_cast<std::int32_t>(pairs.size() / 2));
  }
};

struct TestTask {
  explicit TestTask(Bytes& bytes) {
    std::int64_t n_facts = 0;
    for (std::int32_t v = 1 + bytes.below(8); v > 0; --v) {
      const std::int32_t choice = bytes.byte();
      sizes.push_back(choice < 200   ? 1 + choice % 6
                      : choice < 250 ? 1 + (choice - 200) * 80
                                     : bytes.any<std::int32_t>());
      n_facts += sizes.back() > 0 ? sizes.back() : 0;
    }
    is_small = n_facts <= kMostFacts || n_facts > std::numeric_limits<std::int32_t>::max();
    for (std::int32_t op = bytes.below(24); op > 0; --op) {
      preconditions.add(bytes, sizes, 3);
      effects.add(bytes, sizes, 3);
      const std::int64_t prices[] = {0, 1, 1, 2, 3, 70, kMaxOperatorCost};
      const std::int32_t price = bytes.byte();
      costs.push_back(price < 250 ? prices[price % 7] : bytes.any<std::int64_t>());
    }
    goal.add(bytes, sizes, 3);
    const std::int32_t further = bytes.byte();
    if ((further & 1) != 0) add_conditional(bytes);
    if ((further & 2) != 0) add_axioms(bytes);
  }

  void add_conditional(Bytes& bytes) {
    conditional.begin = {0};
    for (std::size_t op = 0; op < costs.size(); ++op) {
      for (std::int32_t n = bytes.below(3); n > 0; --n) {
        const std::int32_t v = bytes.wild(static_cast<std::int32_t>(sizes.size()));
        const bool exists = v >= 0 && v < static_cast<std::int32_t>(sizes.size());
        const std::int32_t size = exists ? sizes[static_cast<std::size_t>(v)] : 1;
        conditional.pairs.insert(conditional.pairs.end(), {v, bytes.wild(size > 0 ? size : 1)});
        conditions.add(bytes, sizes, 2);
      }
      conditional.begin.push_back(static_cast<std::int32_t>(conditional.pairs.size() / 2));
    }
  }

  // Variables that an operator sets are seldom derived: such tasks are refused.
  void add_axioms(Bytes& bytes) {
    std::vector<bool> is_set(sizes.size());
    for (const Rows* rows : {&effects, &conditional}) {
      for (std::size_t i = 0; i < rows->pairs.size(); i += 2) {
        const auto v = static_cast<std::size_t>(rows->pairs[i]);
        if (v < sizes.size()) is_set[v] = true;
      }
    }
    std::vector<std::int32_t> derived;
    for (std::size_t v = 0; v < sizes.size(); ++v) {
      const bool can_be = sizes[v] == 2 && (!is_set[v] || bytes.byte() > 250);
      layer.push_back(can_be ? bytes.wild(-1, 3) : -1);
      default_value.push_back(bytes.wild(2));
      if (layer.back() >= 0) derived.push_back(static_cast<std::int32_t>(v));
    }
    for (std::int32_t rule = derived.empty() ? 0 : bytes.below(9); rule > 0; --rule) {
      const std::int32_t chosen = bytes.below(static_cast<std::int32_t>(derived.size()));
      heads.push_back(bytes.byte() < 250 ? derived[static_cast<std::size_t>(chosen)] : bytes.wild(8));
      bodies.add(bytes, sizes, 2);
    }
  }

  // Python declines what splits into too many operators, and merge-and-shrink with axioms.
  bool can_be_abstracted() const {
    if (!layer.empty()) return false;
    std::int64_t n_facts = 0;
    for (const std::int32_t size : sizes) n_facts += size;
    return conditional.begin.empty() || n_facts <= 24;
  }

  std::int32_t n_goals() const { return goal.begin.back(); }

  CompiledTask* create() const {
    CompiledTask* task = nullptr;
    LaterParts later{};
    if (!conditional.begin.empty()) {
      later.n_conditional = conditional.begin.back();
      later.conditional_begin = conditional.begin.data();
      later.conditional_facts = conditional.pairs.data();
      later.condition_begin = conditions.begin.data();
      later.conditions = conditions.pairs.data();
    }
    if (!layer.empty()) {
      later.layer = layer.data();
      later.default_value = default_value.data();
      later.n_rules = static_cast<std::int64_t>(heads.size());
      later.heads = heads.data();
      later.body_begin = bodies.begin.data();
      later.bodies = bodies.pairs.data();
    }
    const Status status = plumbline_task_create(
        static_cast<std::int32_t>(sizes.size()), sizes.data(), static_cast<std::int32_t>(costs.size()),
        preconditions.begin.data(), preconditions.pairs.data(), effects.begin.data(), effects.pairs.data(),
        costs.data(), n_goals(), goal.pairs.data(), &later, &task);
    CHECK(status == (task != nullptr ? Status::kDone : Status::kBadArgument));
    return task;
  }

  std::vector<std::int32_t> state(Bytes& bytes) const {
    std::vector<std::int32_t> values;
    for (const std::int32_t size : sizes) values.push_back(bytes.wild(size > 0 ? size : 1));
    return values;
  }

  std::vector<std::int32_t> sizes;
  Rows preconditions, effects, goal;
  std::vector<std::int64_t> costs;
  Rows conditional{{}, {}}, conditions, bodies;
  std::vector<std::int32_t> layer, default_value, heads;
  bool is_small = false;
};

Limits limits_of(Bytes& bytes) {
  const std::int32_t choice = bytes.byte();
  return {0, 500, choice < 200 ? std::uint64_t{1} << 26 : static_cast<std::uint64_t>(choice) << 6};
}

// h* of a state that the table holds, -1 if that is not known.
Cost optimal_cost(StateStore* states, std::int32_t id, const TestTask& task) {
  const Limits limits{0, 2000, std::uint64_t{1} << 26};
  Progress progress{};
  Outcome outcome{};
  CHECK(plumbline_states_close(states, &limits, &progress, &outcome) == Status::kDone);
  if (outcome != Outcome::kSolved) return -1;
  std::vector<std::int64_t> costs(static_cast<std::size_t>(plumbline_states_size(states)));
  const Limits none{0, 0, std::uint64_t{1} << 28};
  CHECK(plumbline_states_optimal_costs(states, task.n_goals(), task.goal.pairs.data(), &none, &progress,
                                       costs.data(), &outcome) == Status::kDone);
  return outcome == Outcome::kSolved ? costs[static_cast<std::size_t>(id)] : -1;
}

void use_states(Bytes& bytes, StateStore* states, const TestTask& test) {
  std::vector<std::int32_t> ids{bytes.wild(4), bytes.wild(4)};
  std::vector<std::int64_t> begin(ids.size() + 1);
  if (plumbline_states_count_applicable(states, 2, ids.data(), begin.data()) == Status::kDone) {
    std::vector<std::int32_t> operators(static_cast<std::size_t>(begin.back()));
    CHECK(plumbline_states_applicable(states, 2, ids.data(), operators.data()) == Status::kDone);
  }
  std::vector<std::int32_t> values(2 * test.sizes.size());
  plumbline_states_values(states, 2, ids.data(), values.data());
  std::uint8_t answers[2];
  plumbline_states_is_goal(states, 2, ids.data(), answers);
  const std::int32_t operators[] = {bytes.wild(24), bytes.wild(24)};
  std::int32_t successors[2];
  plumbline_states_apply(states, 2, ids.data(), operators, successors);
  const std::vector<std::int32_t> sought = test.state(bytes);
  plumbline_states_find(states, 1, sought.data(), successors);
  Lookahead* lookahead = nullptr;
  CHECK(plumbline_lookahead_create(states, &lookahead) == Status::kDone);
  std::int64_t n = 0;
  if (plumbline_lookahead_begin(lookahead, bytes.wild(4)) == Status::kDone) {
    CHECK(plumbline_lookahead_resume(lookahead, bytes.byte(), &n) == Status::kDone);
    const auto size = static_cast<std::size_t>(n);
    std::vector<std::int32_t> visited(size), before(size), steps(size);
    std::vector<std::int64_t> costs(size);
    plumbline_lookahead_visits(lookahead, visited.data(), costs.data(), before.data(), steps.data());
  }
  plumbline_lookahead_destroy(lookahead);
}

void check_answer(const SearchAnswer& answer, SearchResult* result, bool is_optimal, Cost optimal,
                  const CompiledTask& task, const std::vector<std::int32_t>& start, Cost bound) {
  CHECK(result != nullptr);
  std::vector<std::int32_t> plan(static_cast<std::size_t>(answer.plan_length));
  plumbline_result_plan(result, plan.data());
  plumbline_result_destroy(result);
  if (answer.outcome == Outcome::kSolved) {
    CHECK(testing::plan_cost(task.task, start, plan) == answer.cost);
    if (optimal >= 0) CHECK(is_optimal ? answer.cost == optimal : answer.cost >= optimal);
  }
  if (optimal < 0) return;
  if (answer.outcome == Outcome::kUnsolvable) CHECK(optimal == kInfinity);
  if (answer.outcome == Outcome::kNoCheaperPlan) CHECK(optimal >= bound);
  if (is_optimal) CHECK(answer.lower_bound <= optimal);
}

void use_searches(Bytes& bytes, const CompiledTask& task, const TestTask& test,
                  const std::vector<std::int32_t>& start, Cost optimal) {
  Progress progress{};
  for (std::int32_t rounds = bytes.below(4); rounds > 0; --rounds) {
    const Limits limits = limits_of(bytes);
    const std::int32_t algorithm = bytes.wild(4), heuristic = bytes.wild(kNumHeuristics);
    const std::int32_t choice = bytes.byte();
    const Cost bound = choice < 128 ? kInfinity : choice < 250 ? choice - 120 : bytes.any<std::int64_t>();
    SearchAnswer answer{};
    SearchResult* result = nullptr;
    if (heuristic == kTableHeuristic) continue;  // Python checks the size of the table
    if (heuristic >= kFirstAbstraction && !test.can_be_abstracted()) continue;
    if (plumbline_search(&task, algorithm, heuristic, nullptr, 0, start.data(), test.n_goals(),
                         test.goal.pairs.data(), bound, &limits, &progress, &answer,
                         &result) == Status::kDone) {
      const bool is_optimal =
          algorithm == static_cast<std::int32_t>(Algorithm::kAstar) && is_admissible(heuristic);
      check_answer(answer, result, is_optimal, optimal, task, start, bound);
    }
    const std::vector<std::int32_t> successor = test.state(bytes);
    result = nullptr;
    if (plumbline_check_action(&task, heuristic, nullptr, 0, start.data(), successor.data(), bytes.byte(),
                               bytes.below(2), choice < 250 ? kInfinity : bound, &limits, &progress, &answer,
                               &result) == Status::kDone) {
      plumbline_result_destroy(result);
    }
  }
}

void use_aras(Bytes& bytes, const CompiledTask& task, const TestTask& test,
              const std::vector<std::int32_t>& start, Cost optimal) {
  Progress progress{};
  const Limits limits = limits_of(bytes);
  SearchAnswer answer{};
  SearchResult* result = nullptr;
  const auto greedy = static_cast<std::int32_t>(Algorithm::kGreedyBestFirst);
  if (plumbline_search(&task, greedy, bytes.below(kNumHeuristics), nullptr, 0, start.data(), test.n_goals(),
                       test.goal.pairs.data(), kInfinity, &limits, &progress, &answer,
                       &result) != Status::kDone) {
    return;
  }
  std::vector<std::int32_t> plan(static_cast<std::size_t>(answer.plan_length));
  plumbline_result_plan(result, plan.data());
  plumbline_result_destroy(result);
  if (bytes.byte() > 200) plan.push_back(bytes.wild(24));
  ArasRun* run = nullptr;
  if (plumbline_aras_create(&task, start.data(), test.n_goals(), test.goal.pairs.data(),
                            static_cast<std::int64_t>(plan.size()), plan.data(), bytes.wild(9),
                            1 + bytes.byte(), &limits, &progress, &run) != Status::kDone) {
    return;
  }
  for (std::int32_t rounds = bytes.below(4); rounds > 0; --rounds) {
    CHECK(plumbline_aras_improve(run, &answer) == Status::kDone);
    std::vector<std::int32_t> better(static_cast<std::size_t>(answer.plan_length));
    plumbline_aras_plan(run, better.data());
    CHECK(testing::plan_cost(task.task, start, better) == answer.cost);
    if (optimal >= 0) CHECK(answer.cost >= optimal);
  }
  plumbline_aras_destroy(run);
}

void use_evaluators(Bytes& bytes, const CompiledTask& task, const TestTask& test,
                    const std::vector<std::int32_t>& start, Cost optimal) {
  Progress progress{};
  const Limits limits = limits_of(bytes);
  const std::int32_t number = bytes.wild(-2, kNumHeuristics);
  if ((number == -1 || number == -2) && !test.can_be_abstracted()) return;
  Evaluator* evaluator = nullptr;
  AbstractionSize size{};
  Outcome outcome{};
  Status status;
  if (number == -1) {
    status = plumbline_cartesian_create(&task, start.data(), test.n_goals(), test.goal.pairs.data(),
                                        bytes.byte() * 8, bytes.below(2), bytes.below(2), &limits, &progress,
                                        &size, &outcome, &evaluator);
  } else if (number == -2) {
    status = plumbline_merge_and_shrink_create(&task, start.data(), test.n_goals(), test.goal.pairs.data(),
                                               bytes.wild(200), bytes.wild(250), &limits, &progress, &size,
                                               &outcome, &evaluator);
  } else {
    status = plumbline_evaluator_create(&task, number, test.n_goals(), test.goal.pairs.data(), &evaluator);
  }
  if (status != Status::kDone || evaluator == nullptr) return;
  std::int64_t value = 0;
  CHECK(plumbline_evaluator_values(evaluator, &task, 1, start.data(), &value) == Status::kDone);
  if (optimal >= 0 && (number < 0 || is_admissible(number))) CHECK(value <= optimal);
  const std::vector<std::int32_t> other = test.state(bytes);
  plumbline_evaluator_values(evaluator, &task, 1, other.data(), &value);
  const std::int32_t op = bytes.wild(24);
  plumbline_evaluator_successors(evaluator, &task, other.data(), 1, &op, &value);
  plumbline_evaluator_destroy(evaluator);
}

void use_first_steps(Bytes& bytes, StateStore* states) {
  FirstSteps* steps = nullptr;
  CHECK(plumbline_first_steps_create(states, &steps) == Status::kDone);
  std::int64_t answer[3] = {1, -1, 0};
  if (plumbline_first_steps_begin(steps, bytes.wild(4)) == Status::kDone) {
    std::int32_t level = 0;
    for (; level < 3 && answer[0] < 200; ++level) {
      CHECK(plumbline_first_steps_extend(steps, answer) == Status::kDone);
    }
    std::vector<std::int32_t> ids(static_cast<std::size_t>(answer[0]));
    std::vector<std::int64_t> costs(ids.size());
    CHECK(plumbline_first_steps_level(steps, ids.data(), costs.data()) == Status::kDone);
    const std::int32_t asked = bytes.byte() < 250 ? bytes.below(level + 1) : bytes.any<std::int32_t>();
    std::int32_t way[4], operators[3];
    if (asked <= level) plumbline_first_steps_way(steps, asked, bytes.wild(9), way, operators);
  } else {
    CHECK(plumbline_first_steps_extend(steps, answer) == Status::kBadArgument);
  }
  plumbline_first_steps_destroy(steps);
}

// Random words as those of Python's generator: with zeros alone it would draw the same number forever.
void use_walks(Bytes& bytes, StateStore* states) {
  std::array<std::int64_t, PythonRandom::kWords + 1> random{};
  std::uint32_t word = bytes.any<std::uint32_t>() | 1;
  for (std::int64_t& each : random) each = word = word * 1664525u + 1013904223u;
  random.back() = bytes.wild(700);
  RandomWalks* walks = nullptr;
  const std::int64_t size = bytes.byte() < 250 ? bytes.byte() : bytes.any<std::int64_t>();
  if (plumbline_walks_create(states, random.data(), size, bytes.wild(7), bytes.wild(4), &walks) !=
      Status::kDone) {
    return;
  }
  Progress progress{};
  Outcome outcome{};
  const Limits limits = limits_of(bytes);
  const std::int32_t path[] = {bytes.wild(24), bytes.wild(24)};
  for (std::int32_t i = bytes.below(4); i > 0; --i) {
    plumbline_walks_offer(walks, bytes.wild(6), bytes.wild(-1, 3), bytes.below(3), path);
  }
  plumbline_walks_grow(walks, bytes.wild(60), bytes.byte(), &limits, &progress, &outcome);
  plumbline_walks_exhausted(walks, &limits, &progress, &outcome);
  std::int64_t counts[7];
  CHECK(plumbline_walks_counts(walks, counts) == Status::kDone);
  const auto n = static_cast<std::size_t>(counts[0]);
  std::vector<std::int32_t> ids(n), references(n), lengths(n), operators(static_cast<std::size_t>(counts[1]));
  CHECK(plumbline_walks_entries(walks, 0, ids.data(), references.data(), lengths.data(), operators.data()) ==
        Status::kDone);
  // Walks lead where they say. What was offered from outside need not.
  std::size_t step = 0;
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(references[i] < static_cast<std::int32_t>(i) && lengths[i] >= 0);
    std::int32_t state = references[i] < 0 ? ids[i] : ids[static_cast<std::size_t>(references[i])];
    bool leads = i >= 4;
    for (std::int32_t k = 0; k < lengths[i]; ++k) {
      std::int32_t next = -1;
      const std::int32_t op = operators[step++];
      if (leads) CHECK(plumbline_states_apply(states, 1, &state, &op, &next) == Status::kDone && next >= 0);
      state = next;
    }
    if (leads) CHECK(state == ids[i]);
  }
  std::int64_t count = 0;
  const std::int32_t asked = bytes.wild(6);
  if (plumbline_walks_candidates(walks, asked, &limits, &progress, &count) == Status::kDone && count >= 0) {
    std::vector<std::int32_t> steps(static_cast<std::size_t>(count)), targets(steps.size());
    CHECK(plumbline_walks_steps(walks, steps.data(), targets.data()) == Status::kDone);
  }
  std::uint8_t is_known = 0;
  plumbline_walks_known(walks, 1, &asked, &is_known);
  plumbline_walks_destroy(walks);
}

KernelPolicy* policy_of(Bytes& bytes, const CompiledTask& task, const TestTask& test, Evaluator*& value) {
  KernelPolicy* policy = nullptr;
  if (bytes.below(2) == 0) {
    std::vector<std::int64_t> keys(static_cast<std::size_t>(task.task.n_facts()));
    for (std::int64_t& key : keys) key = bytes.byte();
    CHECK(plumbline_policy_random(&task, keys.data(), &policy) == Status::kDone);
    return policy;
  }
  if (plumbline_evaluator_create(&task, 1, test.n_goals(), test.goal.pairs.data(), &value) != Status::kDone) {
    return nullptr;
  }
  CHECK(plumbline_policy_greedy(&task, value, &policy) == Status::kDone);
  return policy;
}

// One factor per variable. No value is above zero, so that no table says what is false of all tasks.
void use_maintenance(Bytes& bytes, Bounds* bounds, const TestTask& test, std::int32_t id) {
  std::vector<std::int32_t> squares, n_variables, variables, lookups;
  std::vector<std::int64_t> lookup_sizes;
  for (const std::int32_t size : test.sizes) {
    if (size > 6) return;
    n_variables.push_back(1);
    variables.push_back(static_cast<std::int32_t>(variables.size()));
    lookup_sizes.push_back(size);
    for (std::int32_t s = 0; s < size; ++s) {
      lookups.push_back(s);
      for (std::int32_t t = 0; t < size; ++t) {
        squares.push_back(s == t ? 0 : bytes.below(3) == 0 ? kNoValue : -bytes.below(5));
      }
    }
  }
  DominanceTables* tables = nullptr;
  CHECK(plumbline_tables_create(static_cast<std::int32_t>(test.sizes.size()), test.sizes.data(),
                                squares.data(), n_variables.data(), variables.data(), test.sizes.data(),
                                lookup_sizes.data(), lookups.data(), &tables) == Status::kDone);
  BoundMaintenance* maintenance = nullptr;
  CHECK(plumbline_maintenance_create(tables, bounds, 5, &maintenance) == Status::kDone);
  for (std::int32_t round = 0; round < 2; ++round) {
    const std::int32_t compared[] = {id, bytes.wild(9), bytes.wild(9)};
    std::int32_t sources[3];
    std::int64_t gains[3], values[3];
    plumbline_maintenance_compare(maintenance, 3, compared);
    plumbline_maintenance_infer(maintenance, 3, compared, sources, gains, values);
  }
  plumbline_maintenance_destroy(maintenance);
  plumbline_tables_destroy(tables);
}

// Runs of a policy inside or outside, and bounds that rest on them: none is below h*.
void use_runs(Bytes& bytes, const CompiledTask& task, StateStore* states, const TestTask& test, Cost optimal,
              std::int32_t id) {
  Evaluator* value = nullptr;
  KernelPolicy* policy = bytes.below(3) == 0 ? nullptr : policy_of(bytes, task, test, value);
  const std::vector<std::int32_t> asked = test.state(bytes);
  std::int32_t decision = 0;
  if (policy != nullptr) plumbline_policy_decide(policy, &task, 1, asked.data(), &decision);
  Runs* runs = nullptr;
  CHECK(plumbline_runs_create(states, &runs) == Status::kDone);
  std::int64_t counts[4];
  const std::vector<std::int32_t> starts{id, bytes.wild(9)};
  const std::int64_t limit = bytes.below(4) == 0 ? -1 : bytes.byte();
  std::int32_t continues = 0;
  for (std::int32_t round = 0; round < 20; ++round, continues = 1) {
    if (plumbline_runs_run(runs, policy, 2, starts.data(), continues, limit, 1e6, counts) != Status::kDone) {
      break;
    }
    if (counts[0] != 0) break;
    std::vector<std::int32_t> missing(static_cast<std::size_t>(counts[1]));
    CHECK(plumbline_runs_missing(runs, missing.data()) == Status::kDone);
    for (const std::int32_t state : missing) {
      const std::int32_t answer = bytes.wild(-2, 24);
      if (bytes.byte() > 240) CHECK(plumbline_runs_fail(runs, state) == Status::kDone);
      CHECK(plumbline_runs_tell(runs, 1, &state, &answer) == Status::kDone);
    }
  }
  std::int32_t outcomes[2], reasons[2], decisions[2], now[] = {id, starts[1]};
  std::int64_t costs[2], spent[2] = {}, steps[2] = {}, answers[2] = {};
  const std::int64_t bounds[2] = {bytes.byte(), kInfinity};
  std::uint8_t ended[2] = {};
  const std::vector<std::int64_t> known(bytes.below(3), bytes.byte());
  plumbline_runs_bounded(runs, policy, 2, now, bounds, spent, steps, answers, ended, bytes.byte(),
                         static_cast<std::int64_t>(known.size()), known.data(), 1e6, counts);
  plumbline_runs_decide(runs, policy, 2, starts.data(), decisions, counts);
  if (plumbline_runs_results(runs, 2, starts.data(), outcomes, reasons, costs) == Status::kDone &&
      optimal >= 0 && outcomes[0] == static_cast<std::int32_t>(RunOutcome::kSolved)) {
    CHECK(costs[0] >= optimal);
  }
  std::int64_t traced[4];
  std::int32_t passed[3], by[3];
  plumbline_runs_trace(runs, bytes.wild(9), bytes.below(4), passed, by, traced);
  StateStore* others = nullptr;
  Runs* copy = nullptr;
  std::int64_t adopted[3];
  CHECK(plumbline_states_create(&task, &others) == Status::kDone);
  CHECK(plumbline_runs_create(others, &copy) == Status::kDone);
  CHECK(plumbline_runs_adopt(copy, runs, id, adopted) == Status::kDone);
  CHECK(plumbline_runs_results(runs, 1, &id, outcomes, reasons, costs) == Status::kDone);
  CHECK(adopted[1] == (outcomes[0] == static_cast<std::int32_t>(RunOutcome::kUnknown) ? 0 : 1));
  CHECK(adopted[2] == costs[0]);
  plumbline_runs_destroy(copy);
  plumbline_states_destroy(others);
  if (LookaheadScreen* screen = nullptr; policy != nullptr) {
    CHECK(plumbline_screen_create(&task, policy, &screen) == Status::kDone);
    const std::int64_t below = bytes.below(4) == 0 ? kInfinity : bytes.byte();
    const std::int32_t state = bytes.wild(9);
    const std::int32_t depth = bytes.wild(3);
    if (plumbline_screen_begin(screen, states, state, depth, below) == Status::kDone && depth < 4) {
      CHECK(plumbline_screen_resume(screen, bytes.byte(), 1e6, counts) == Status::kDone);
    }
    std::int64_t proven[5], length = 0;
    std::int32_t ways[2], finders[2];
    const std::int32_t examined = bytes.below(4) == 0 ? bytes.wild(9) : state;
    if (plumbline_screen_begin_proof(screen, runs, examined, bytes.wild(9)) == Status::kDone && depth < 4) {
      CHECK(plumbline_screen_prove(screen, bytes.byte(), 1e6, proven) == Status::kDone && proven[0] == 1);
      if (optimal >= 0 && examined == id) CHECK(proven[2] >= optimal && proven[3] >= optimal);
    }
    plumbline_screen_prove(screen, bytes.byte(), 0.0, proven);
    plumbline_screen_chain(screen, bytes.below(3), ways, finders, &length);
    plumbline_screen_destroy(screen);
  }
  std::int32_t parents[2], their[2];
  plumbline_runs_parents(runs, bytes.wild(9), bytes.below(3), parents, their, counts);

  Bounds* upper = nullptr;
  CHECK(plumbline_bounds_create(states, runs, &upper) == Status::kDone);
  const std::int32_t plan[] = {bytes.wild(24), bytes.wild(24), bytes.wild(24)};
  plumbline_bounds_add_plan(upper, bytes.below(2) ? id : bytes.wild(9), bytes.below(4), plan, 2);
  std::int32_t path[4] = {bytes.below(2) ? id : bytes.wild(9), -1, -1, -1};
  std::int64_t length = 0;
  for (std::int32_t next = -1; length < 3; path[++length] = next) {
    if (plumbline_states_apply(states, 1, &path[length], &plan[length], &next) != Status::kDone) break;
    if (next < 0) break;
  }
  plumbline_bounds_add_path(upper, length, path, plan, 3, bytes.below(2));
  if (optimal >= 0) CHECK(plumbline_bounds_u(upper, id) >= optimal);
  plumbline_bounds_add_morph(upper, bytes.wild(9), bytes.wild(9), bytes.below(4), 4);
  if (Bounds* const plans = plumbline_bounds_plans(upper); plans != nullptr && optimal >= 0) {
    CHECK(plumbline_bounds_u(plans, id) >= optimal);
  }
  use_maintenance(bytes, upper, test, id);
  std::int64_t all[2], count = 0, gains[3];
  std::int32_t fallen[3], vias[3], nexts[3], origins[3];
  plumbline_bounds_all(upper, 2, starts.data(), all);
  plumbline_bounds_by_state(upper, bytes.below(3), all);
  plumbline_bounds_changed(upper, bytes.below(4), fallen, &count);
  plumbline_bounds_chain(upper, bytes.wild(9), bytes.below(4), vias, nexts, gains, origins, &count);
  plumbline_bounds_destroy(upper);
  plumbline_runs_destroy(runs);
  plumbline_policy_destroy(policy);
  if (value != nullptr) plumbline_evaluator_destroy(value);
}

void use_task(Bytes& bytes) {
  const TestTask test(bytes);
  if (!test.is_small) return;
  CompiledTask* task = test.create();
  if (task == nullptr) return;
  StateStore* states = nullptr;
  CHECK(plumbline_states_create(task, &states) == Status::kDone);
  const std::vector<std::int32_t> start = test.state(bytes);
  std::int32_t id = -1;
  if (plumbline_states_add(states, 1, start.data(), &id) == Status::kDone) {
    const Cost optimal = optimal_cost(states, id, test);
    use_states(bytes, states, test);
    use_first_steps(bytes, states);
    use_walks(bytes, states);
    use_runs(bytes, *task, states, test, optimal, id);
    use_evaluators(bytes, *task, test, start, optimal);
    use_searches(bytes, *task, test, start, optimal);
    use_aras(bytes, *task, test, start, optimal);
  }
  plumbline_states_destroy(states);
  plumbline_task_destroy(task);
}

// Factors whose labels lead from a state to at most one, and tables that heights allow, as Python makes them.
struct TestSystem {
  explicit TestSystem(Bytes& bytes) {
    const std::int32_t n_labels = bytes.below(6);
    for (std::int32_t i = 1 + bytes.below(3); i > 0; --i) {
      n_states.push_back(1 + bytes.below(5));
      n_groups.push_back(1 + bytes.below(4));
      n_arcs.push_back(0);
      for (std::int32_t group = 1; group < n_groups.back(); ++group) {
        for (std::int32_t state = 0; state < n_states.back(); ++state) {
          if (state > 0 && bytes.below(2) == 0) continue;  // every group has an arc
          groups.push_back(bytes.byte() < 254 ? group : bytes.wild(4));
          sources.push_back(state);
          targets.push_back(bytes.wild(n_states.back()));
          ++n_arcs.back();
        }
      }
      for (std::int32_t label = 0; label < n_labels; ++label)
        label_groups.push_back(bytes.wild(n_groups.back()));
      fill(bytes, n_states.back());
    }
    const std::int64_t prices[] = {0, 1, 2, 70, kMaxOperatorCost};
    for (std::int32_t label = 0; label < n_labels; ++label) costs.push_back(prices[bytes.below(5)]);
  }

  void fill(Bytes& bytes, std::int32_t n) {
    const Value most[] = {0, 1, 2, 9, kRange};
    const std::size_t first = heights.size();
    for (std::int32_t state = 0; state < n; ++state) heights.push_back(most[bytes.below(5)]);
    for (std::int32_t s = 0; s < n; ++s) {
      for (std::int32_t t = 0; t < n; ++t) {
        const Value allowed =
            heights[first + static_cast<std::size_t>(s)] - heights[first + static_cast<std::size_t>(t)];
        tables.push_back(s == t ? 0 : bytes.below(3) == 0 ? kNoValue : allowed);
      }
    }
  }

  std::vector<std::int32_t> n_states, n_groups, groups, sources, targets, label_groups, tables, heights;
  std::vector<std::int64_t> n_arcs, costs;
};

void use_tables(Bytes& bytes, const TestSystem& test) {
  const auto n = static_cast<std::int32_t>(test.n_states.size());
  std::vector<std::int32_t> n_variables, variables, sizes, lookups;
  std::vector<std::int64_t> lookup_sizes;
  for (const std::int32_t states : test.n_states) {
    n_variables.push_back(1);
    variables.push_back(bytes.wild(n));
    sizes.push_back(bytes.wild(6));
    lookup_sizes.push_back(bytes.below(7));
    for (std::int64_t k = 0; k < lookup_sizes.back(); ++k) lookups.push_back(bytes.wild(-1, states));
  }
  DominanceTables* tables = nullptr;
  if (plumbline_tables_create(n, test.n_states.data(), test.tables.data(), n_variables.data(),
                              variables.data(), sizes.data(), lookup_sizes.data(), lookups.data(),
                              &tables) != Status::kDone) {
    return;
  }
  std::vector<std::int32_t> values, ids(test.n_states.size()), others;
  for (std::int32_t i = 0; i < n; ++i) values.push_back(bytes.wild(6));
  for (const std::int32_t states : test.n_states) others.push_back(bytes.wild(-1, states));
  std::int64_t value = 0;
  if (plumbline_tables_find(tables, 1, n, values.data(), ids.data()) == Status::kDone) {
    plumbline_tables_values(tables, 1, ids.data(), 1, others.data(), &value);
  }
  DominanceComparison comparison(*tables);
  std::vector<std::int32_t> told;
  for (std::int32_t state = 0; state < 3; ++state) {
    const std::int32_t* const own = bytes.below(2) ? others.data() : ids.data();
    if (!tables->has(own)) continue;
    comparison.queue(state, bytes.below(4) == 0 ? kInfinity : bytes.byte(), own);
    comparison.step([&](std::int32_t fallen, std::int64_t) { told.push_back(fallen); });
    if (tables->has(others.data())) comparison.infer(others.data());
    comparison.lower(state, bytes.byte());
  }
  plumbline_tables_destroy(tables);
}

void use_dominance(Bytes& bytes) {
  TestSystem test(bytes);
  DominanceSystem* system = nullptr;
  if (plumbline_dominance_create(static_cast<std::int32_t>(test.n_states.size()), test.n_states.data(),
                                 test.n_groups.data(), test.n_arcs.data(), test.groups.data(),
                                 test.sources.data(), test.targets.data(),
                                 static_cast<std::int32_t>(test.costs.size()), test.costs.data(),
                                 test.label_groups.data(), &system) == Status::kDone) {
    Progress progress{};
    Outcome outcome{};
    const Limits limits = limits_of(bytes);
    plumbline_dominance_fix_point(system, test.tables.data(), bytes.wild(9), bytes.below(2), &limits,
                                  &progress, &outcome);
    plumbline_dominance_closure(system, test.tables.data(), test.heights.data(), &limits, &progress,
                                &outcome);
    plumbline_dominance_destroy(system);
  }
  use_tables(bytes, test);
}

// An unrolled network: arrays of sizes that fit, entries mostly in range.
struct TestNetwork {
  explicit TestNetwork(Bytes& bytes) {
    const std::int32_t n_blocks = bytes.below(4), n_operators = bytes.below(5), n_chunks = bytes.below(3);
    std::int32_t n_facts = 0, n_pools = 0, n_products = 0;
    for (std::int32_t i = 0; i < n_blocks; ++i) {
      const std::int32_t n = bytes.below(4), slots = bytes.below(3), missing = bytes.below(2);
      blocks.insert(blocks.end(), {n, slots, bytes.byte() < 254 ? missing : bytes.wild(2)});
      n_facts += n;
      n_pools += n * slots;
      n_products += (n + missing) * slots;
    }
    n_states = 1 + bytes.below(2);
    const std::int32_t n_variables = 1 + bytes.below(4);
    const std::int32_t units[] = {4, 8, 16, 20}, wrong[] = {0, -4, 6, 4100};
    const std::int32_t hidden = units[bytes.below(4)];  // Python checks that the table has as many columns
    shape = {n_variables,
             bytes.byte() < 254 ? hidden : wrong[bytes.below(4)],
             1 + bytes.below(3),
             bytes.below(3),
             n_facts,
             n_operators,
             n_chunks,
             n_pools,
             n_blocks};
    for (std::int32_t i = 0; i < n_facts; ++i)
      facts.insert(facts.end(), {bytes.wild(-1, n_variables), bytes.wild(3)});
    add_rows(bytes, required_begin, required, n_operators, n_facts);
    add_rows(bytes, forbidden_begin, forbidden, n_operators, n_facts);
    add_rows(bytes, products_begin, products, n_operators, n_products);
    add_rows(bytes, pools_begin, pools, n_pools, n_operators);
    add_rows(bytes, sources_begin, sources, n_chunks * n_operators, n_facts + 1);
    n_rows = 1 + bytes.below(9);
    for (std::int32_t i = n_chunks * n_operators; i > 0; --i)
      base.push_back(bytes.wild(static_cast<std::int32_t>(n_rows)));
    for (std::size_t i = 0; i < sources.size(); ++i) values.push_back(bytes.wild(2));
    for (std::int32_t op = 0; op < n_operators; ++op) schema.push_back(bytes.wild(3));
    for (std::int32_t i = n_states * n_variables; i > 0; --i) state.push_back(bytes.wild(4));
    NetworkWiring sizes{};
    sizes.hidden = hidden;
    sizes.layers = shape[2];
    sizes.n_schemas = shape[3];
    for (std::size_t i = 0; i < blocks.size(); i += 3)
      sizes.blocks.push_back({blocks[i], blocks[i + 1], blocks[i + 2]});
    weights.resize(ActionSchemaNetwork::n_weights(sizes));
    table.resize(static_cast<std::size_t>(n_rows) * static_cast<std::size_t>(hidden));
    const float numbers[] = {0.0F,
                             0.5F,
                             -0.5F,
                             3.0F,
                             -40.0F,
                             1e30F,
                             std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};
    const std::int32_t most = bytes.below(8) + 1;
    const std::int32_t turn = bytes.byte();
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = numbers[(i * 7 + static_cast<std::size_t>(turn)) % static_cast<std::size_t>(most)];
    for (std::size_t i = 0; i < table.size(); ++i)
      table[i] = numbers[(i * 5 + static_cast<std::size_t>(turn)) % static_cast<std::size_t>(most)];
  }

  static void add_rows(Bytes& bytes, std::vector<std::int32_t>& begin, std::vector<std::int32_t>& entries,
                       std::int32_t n, std::int32_t end) {
    begin.push_back(0);
    for (std::int32_t row = 0; row < n; ++row) {
      for (std::int32_t i = end > 0 ? bytes.below(3) : 0; i > 0; --i) entries.push_back(bytes.wild(end));
      begin.push_back(static_cast<std::int32_t>(entries.size()));
    }
  }

  std::vector<std::int32_t> shape, facts, blocks, required_begin, required, forbidden_begin, forbidden;
  std::vector<std::int32_t> products_begin, products, pools_begin, pools, sources_begin, sources;
  std::vector<std::int32_t> base, values, schema, state;
  std::vector<float> table, weights;
  std::int64_t n_rows = 0;
  std::int32_t n_states = 0;
};

void use_network_policy(Bytes& bytes, const ActionSchemaNetwork& network, std::size_t n_actions) {
  const TestTask test(bytes);
  CompiledTask* const task = test.is_small ? test.create() : nullptr;
  if (task == nullptr) return;
  std::vector<std::int32_t> begin, operators;
  TestNetwork::add_rows(bytes, begin, operators, static_cast<std::int32_t>(n_actions), 24);
  KernelPolicy* policy = nullptr;
  if (plumbline_policy_network(&network, task, begin.data(), operators.data(), bytes.byte() / 64.0,
                               &policy) == Status::kDone) {
    const std::vector<std::int32_t> state = test.state(bytes);
    std::int32_t answer = 0;
    if (plumbline_policy_decide(policy, task, 1, state.data(), &answer) == Status::kDone) {
      CHECK(answer >= kNoOperation && answer < task->task.n_operators());
    }
    plumbline_policy_destroy(policy);
  }
  plumbline_task_destroy(task);
}

void use_network(Bytes& bytes) {
  const TestNetwork test(bytes);
  ActionSchemaNetwork* network = nullptr;
  const Status status = plumbline_asnets_create(
      test.shape.data(), test.facts.data(), test.required_begin.data(), test.required.data(),
      test.forbidden_begin.data(), test.forbidden.data(), test.base.data(), test.sources_begin.data(),
      test.sources.data(), test.values.data(), test.schema.data(), test.products_begin.data(),
      test.products.data(), test.pools_begin.data(), test.pools.data(), test.blocks.data(), test.n_rows,
      test.table.data(), static_cast<std::int64_t>(test.weights.size()), test.weights.data(), &network);
  CHECK(status == (network != nullptr ? Status::kDone : Status::kBadArgument));
  if (network == nullptr) return;
  const auto n = static_cast<std::size_t>(test.n_states), n_operators = test.schema.size();
  std::vector<float> logits(n * n_operators);
  std::vector<std::uint8_t> applicable(n * n_operators);
  CHECK(plumbline_asnets_logits(network, test.n_states, test.state.data(), logits.data(),
                                applicable.data()) == Status::kDone);
  use_network_policy(bytes, *network, n_operators);
  plumbline_asnets_destroy(network);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  switch (bytes.below(4)) {
    case 0:
      use_dominance(bytes);
      break;
    case 1:
      use_network(bytes);
      break;
    default:
      use_task(bytes);
  }
  return 0;
}

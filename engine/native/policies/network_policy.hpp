// An action schema network as a policy: the first of the applicable actions whose logits are within a
// tolerance of the best.
#pragma once

#include <cstdint>
#include <utility>

#include "core/task.hpp"
#include "networks/action_schema_network.hpp"
#include "policies/policy.hpp"

namespace plumbline {

// Defined in interface/networks.cpp, for the widest vectors that the machine has.
void evaluate(const ActionSchemaNetwork& network, const std::int32_t* values, bool all,
              ActionSchemaNetwork::Scratch& scratch);

class NetworkPolicy final : public KernelPolicy {
 public:
  // `operators` has those of the task by action of the network: none, one, or, where a condition is no list
  // of facts, several. The network and the task must outlive this object.
  NetworkPolicy(const ActionSchemaNetwork& network, const Task& task, IndexRows operators, float tolerance)
      : network_(network),
        task_(task),
        operators_(std::move(operators)),
        tolerance_(tolerance),
        scratch_(network) {}

  std::int32_t decide(const std::int32_t* values) override {
    evaluate(network_, values, false, scratch_);
    const std::int32_t action = network_.best(scratch_, tolerance_);
    return action < 0 ? kNoAction : operator_of(static_cast<std::size_t>(action), values);
  }

 private:
  // Of several operators the one that is applicable, or the first if none is.
  std::int32_t operator_of(std::size_t action, const std::int32_t* values) const {
    const auto candidates = operators_[action];
    if (candidates.empty()) return kNoOperation;
    for (const std::int32_t op : candidates) {
      const auto precondition = task_.preconditions[op];
      if (std::ranges::all_of(precondition,
                              [&](const Fact fact) { return values[fact.variable] == fact.value; })) {
        return op;
      }
    }
    return candidates.front();
  }

  const ActionSchemaNetwork& network_;
  const Task& task_;
  IndexRows operators_;
  float tolerance_;
  ActionSchemaNetwork::Scratch scratch_;
};

}  // namespace plumbline

// An action schema network unrolled over one task, evaluated state by state. Every sum has a fixed order and
// no state sees another one, so that logits depend neither on the batch nor on the machine. Formulas as in
// engine/policies/asnets/network.py, which trains the weights: a matrix over concatenated vectors is applied
// block by block to each fact and then summed over the facts of an operator, since there are far fewer facts
// than pairs of operator and fact.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/task.hpp"
#include "networks/elu.hpp"

namespace plumbline {

// What an empty pool and a missing fact count as: the lowest value of ELU.
inline constexpr float kEmptyPool = -1.0F;

// Items with lists of numbers: those of item i lie in [begin[i], begin[i + 1]).
struct IndexRows {
  std::vector<std::int32_t> begin;
  std::vector<std::int32_t> entries;

  std::span<const std::int32_t> operator[](std::size_t row) const {
    const auto first = static_cast<std::size_t>(begin[row]);
    return {entries.data() + first, static_cast<std::size_t>(begin[row + 1]) - first};
  }
};

// The facts of one predicate. Their pools lie fact by fact, then slot by slot; their products slot by slot,
// in each slot fact by fact and, if there is one, the missing fact last.
struct FactBlock {
  std::int32_t facts;
  std::int32_t slots;
  std::int32_t has_missing;
};

struct NetworkWiring {
  std::int32_t n_variables;
  std::int32_t hidden;
  std::int32_t layers;
  std::int32_t n_schemas;
  std::vector<Fact> facts;         // variable -1: never changes, and holds if the value is not 0
  IndexRows required;              // by operator: facts that must hold
  IndexRows forbidden;             // by operator: facts that must not hold
  std::vector<std::int32_t> base;  // by chunk and operator: a row of the table
  IndexRows sources;               // by chunk and operator: bits that are added to the base; a fact, or, one
                                   // past the last fact, whether the operator is applicable
  std::vector<std::int32_t> values;  // by source: what the bit counts
  std::vector<std::int32_t> schema;  // by operator
  IndexRows products;                // by operator: what is summed up
  IndexRows pools;                   // by pool: the operators whose maximum it is
  std::vector<FactBlock> blocks;

  std::size_t n_operators() const { return schema.size(); }
  std::size_t n_chunks() const { return base.size() / std::max<std::size_t>(1, n_operators()); }
};

// Weights in the order in which they are read. For each layer: by block the matrix of the pools (inputs by
// outputs), that of the fact itself (not in the first layer) and the bias; then by block and slot the matrix
// of a fact in an operator; then by schema the matrix of the operator itself; then by schema the bias. The
// number of hidden units is a multiple of kLanes; whoever has others adds units whose weights are zero.
class ActionSchemaNetwork {
 public:
  static constexpr std::int32_t kMaxHidden = 4096;

  // `table` has rows of hidden units; where an operator selects just one, its activation is made here.
  ActionSchemaNetwork(NetworkWiring wiring, const std::vector<float>& table, std::vector<float> weights)
      : wiring_(std::move(wiring)), table_(table.size() / kLanes), weights_(std::move(weights)) {
    std::memcpy(table_.data(), table.data(), table_.size() * sizeof(Lanes));
    if (wiring_.n_chunks() != 1) return;
    for (Lanes& lanes : table_) lanes = elu(lanes);
  }

  std::size_t n_operators() const { return wiring_.n_operators(); }
  std::int32_t n_variables() const { return wiring_.n_variables; }
  std::size_t parts() const { return static_cast<std::size_t>(wiring_.hidden / kLanes); }

  // What one evaluation works on.
  struct Scratch {
    explicit Scratch(const ActionSchemaNetwork& network)
        : holds(network.wiring_.facts.size() + 1),
          applicable(network.n_operators()),
          logits(network.n_operators()),
          sum(network.parts()),
          largest(network.parts()),
          actions(network.n_operators() * network.parts()),
          facts(network.wiring_.facts.size() * network.parts()),
          products(network.n_products() * network.parts()),
          scores(network.n_products()) {}

    std::vector<std::uint8_t> holds;  // by fact, and last for the operator that is looked at
    std::vector<std::uint8_t> applicable;
    std::vector<float> logits;
    std::vector<Lanes> sum;
    std::vector<Lanes> largest;
    std::vector<Lanes> actions;
    std::vector<Lanes> facts;
    std::vector<Lanes> products;
    std::vector<float> scores;  // products of the last layer
  };

  // Fills `applicable` and the logits of applicable operators, or of all. kParts: as a constant, or 0.
  template <std::size_t kParts>
  [[gnu::always_inline]] void evaluate(const std::int32_t* values, bool all, Scratch& scratch) const {
    look(values, scratch);
    first_layer<kParts>(scratch);
    const float* weights = weights_.data();
    for (std::int32_t layer = 0; layer < wiring_.layers; ++layer) {
      weights = proposition_layer<kParts>(layer > 0, weights, scratch);
      if (layer + 1 < wiring_.layers) {
        weights = action_layer<kParts>(weights, scratch);
      } else {
        last_layer<kParts>(weights, all, scratch);
      }
    }
  }

  // The first of the applicable operators whose logits are within the tolerance of the best; -1 if none is
  // applicable or a logit is not a number.
  std::int32_t best(const Scratch& scratch, float tolerance) const {
    float best = -std::numeric_limits<float>::infinity();
    for (std::size_t op = 0; op < n_operators(); ++op) {
      if (scratch.applicable[op] == 0) continue;
      if (std::isnan(scratch.logits[op])) return -1;
      best = std::max(best, scratch.logits[op]);
    }
    if (!std::isfinite(best)) return -1;
    for (std::size_t op = 0; op < n_operators(); ++op) {
      if (scratch.applicable[op] != 0 && scratch.logits[op] >= best - tolerance) {
        return static_cast<std::int32_t>(op);
      }
    }
    return -1;
  }

  std::size_t n_products() const {
    std::size_t rows = 0;
    for (const FactBlock& block : wiring_.blocks) {
      rows += static_cast<std::size_t>(block.slots) * rows_of(block);
    }
    return rows;
  }

  // How many weights a network of this form has.
  static std::size_t n_weights(const NetworkWiring& wiring) {
    const auto width = static_cast<std::size_t>(wiring.hidden);
    std::size_t total = 0;
    for (std::int32_t layer = 0; layer < wiring.layers; ++layer) {
      const std::size_t outputs = layer + 1 < wiring.layers ? width : 1;
      for (const FactBlock& block : wiring.blocks) {
        const auto slots = static_cast<std::size_t>(block.slots);
        total += (slots + (layer > 0 ? 1 : 0)) * width * width + width + slots * width * outputs;
      }
      total += static_cast<std::size_t>(wiring.n_schemas) * (width + 1) * outputs;
    }
    return total;
  }

 private:
  static std::size_t rows_of(const FactBlock& block) {
    return static_cast<std::size_t>(block.facts) + static_cast<std::size_t>(block.has_missing);
  }

  template <std::size_t kParts>
  std::size_t parts() const {
    return kParts > 0 ? kParts : parts();
  }

  [[gnu::always_inline]] static Lanes load(const float* numbers) {
    Lanes lanes;
    std::memcpy(&lanes, numbers, sizeof(Lanes));
    return lanes;
  }

  // sum += vector times matrix, input by input. With a constant number of parts the sum stays in registers.
  template <std::size_t kParts>
  [[gnu::always_inline]] void multiply(const Lanes* vector, const float* matrix, Lanes* sum) const {
    const std::size_t n = parts<kParts>();
    if constexpr (kParts > 0) {
      Lanes held[kParts];
      for (std::size_t part = 0; part < kParts; ++part) held[part] = sum[part];
      add_products<kParts>(n, vector, matrix, held);
      for (std::size_t part = 0; part < kParts; ++part) sum[part] = held[part];
    } else {
      add_products<0>(n, vector, matrix, sum);
    }
  }

  template <std::size_t kParts>
  [[gnu::always_inline]] static void add_products(std::size_t n, const Lanes* vector, const float* matrix,
                                                  Lanes* sum) {
    const auto* inputs = reinterpret_cast<const float*>(vector);
    for (std::size_t input = 0; input < n * kLanes; ++input) {
      const Lanes factor = Lanes{} + inputs[input];
      for (std::size_t part = 0; part < (kParts > 0 ? kParts : n); ++part, matrix += kLanes) {
        sum[part] += factor * load(matrix);
      }
    }
  }

  // One number instead of a vector: lane by lane first, then the lanes in their order.
  template <std::size_t kParts>
  [[gnu::always_inline]] float dot(const Lanes* vector, const float* column) const {
    Lanes sum{};
    for (std::size_t part = 0; part < parts<kParts>(); ++part)
      sum += vector[part] * load(column + part * kLanes);
    return ((sum[0] + sum[1]) + sum[2]) + sum[3];
  }

  void look(const std::int32_t* values, Scratch& scratch) const {
    for (std::size_t f = 0; f < wiring_.facts.size(); ++f) {
      const Fact fact = wiring_.facts[f];
      scratch.holds[f] = fact.variable < 0 ? fact.value != 0 : values[fact.variable] == fact.value;
    }
    for (std::size_t op = 0; op < n_operators(); ++op) {
      bool holds = true;
      for (const std::int32_t fact : wiring_.required[op]) {
        holds = holds && scratch.holds[static_cast<std::size_t>(fact)] != 0;
      }
      for (const std::int32_t fact : wiring_.forbidden[op]) {
        holds = holds && scratch.holds[static_cast<std::size_t>(fact)] == 0;
      }
      scratch.applicable[op] = holds;
    }
  }

  template <std::size_t kParts>
  [[gnu::always_inline]] void first_layer(Scratch& scratch) const {
    const std::size_t n = parts<kParts>();
    const std::size_t chunks = wiring_.n_chunks();
    for (std::size_t op = 0; op < n_operators(); ++op) {
      scratch.holds.back() = scratch.applicable[op];
      Lanes* vector = scratch.actions.data() + op * n;
      for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        const Lanes* row = table_.data() + selected(chunk * n_operators() + op, scratch) * n;
        for (std::size_t part = 0; part < n; ++part) {
          vector[part] = chunk == 0 ? row[part] : vector[part] + row[part];
        }
      }
      if (chunks == 1) continue;
      for (std::size_t part = 0; part < n; ++part) vector[part] = elu(vector[part]);
    }
  }

  std::size_t selected(std::size_t entry, const Scratch& scratch) const {
    std::int32_t row = wiring_.base[entry];
    const auto begin = static_cast<std::size_t>(wiring_.sources.begin[entry]);
    const auto end = static_cast<std::size_t>(wiring_.sources.begin[entry + 1]);
    for (std::size_t i = begin; i < end; ++i) {
      const auto source = static_cast<std::size_t>(wiring_.sources.entries[i]);
      row += scratch.holds[source] * wiring_.values[i];
    }
    return static_cast<std::size_t>(row);
  }

  // Where the next weights are; so with every layer.
  template <std::size_t kParts>
  [[gnu::always_inline]] const float* proposition_layer(bool has_skip, const float* weights,
                                                        Scratch& scratch) const {
    const std::size_t n = parts<kParts>();
    const std::size_t width = n * kLanes;
    Lanes* sum = scratch.sum.data();
    Lanes* largest = scratch.largest.data();
    Lanes* vector = scratch.facts.data();
    std::size_t pool = 0;
    for (const FactBlock& block : wiring_.blocks) {
      const auto slots = static_cast<std::size_t>(block.slots);
      const float* skip = weights + slots * width * width;
      const float* bias = skip + (has_skip ? width * width : 0);
      for (std::int32_t i = 0; i < block.facts; ++i, vector += n) {
        for (std::size_t part = 0; part < n; ++part) sum[part] = load(bias + part * kLanes);
        for (std::size_t slot = 0; slot < slots; ++slot, ++pool) {
          maximum<kParts>(wiring_.pools[pool], scratch.actions.data(), largest);
          multiply<kParts>(largest, weights + slot * width * width, sum);
        }
        if (has_skip) multiply<kParts>(vector, skip, sum);
        for (std::size_t part = 0; part < n; ++part) vector[part] = elu(sum[part]);
      }
      weights = bias + width;
    }
    return weights;
  }

  template <std::size_t kParts>
  [[gnu::always_inline]] void maximum(std::span<const std::int32_t> members, const Lanes* actions,
                                      Lanes* result) const {
    const std::size_t n = parts<kParts>();
    if (members.empty()) {
      std::fill_n(result, n, Lanes{} + kEmptyPool);
      return;
    }
    std::copy_n(actions + static_cast<std::size_t>(members[0]) * n, n, result);
    for (const std::int32_t member : members.subspan(1)) {
      const Lanes* other = actions + static_cast<std::size_t>(member) * n;
      for (std::size_t part = 0; part < n; ++part) {
        result[part] = other[part] > result[part] ? other[part] : result[part];
      }
    }
  }

  // Calls `use(vector, matrix)` for every row of the products, in their order; returns the next weights.
  template <std::size_t kParts, class Use>
  [[gnu::always_inline]] const float* for_each_product(const float* weights, std::size_t outputs,
                                                       Scratch& scratch, Use&& use) const {
    const std::size_t n = parts<kParts>();
    Lanes* missing = scratch.largest.data();
    std::fill_n(missing, n, Lanes{} + kEmptyPool);
    const Lanes* first = scratch.facts.data();
    for (const FactBlock& block : wiring_.blocks) {
      const auto facts = static_cast<std::size_t>(block.facts);
      for (std::int32_t slot = 0; slot < block.slots; ++slot, weights += n * kLanes * outputs) {
        for (std::size_t row = 0; row < rows_of(block); ++row) {
          use(row == facts ? missing : first + row * n, weights);
        }
      }
      first += facts * n;
    }
    return weights;
  }

  template <std::size_t kParts>
  [[gnu::always_inline]] const float* action_layer(const float* weights, Scratch& scratch) const {
    const std::size_t n = parts<kParts>();
    const std::size_t width = n * kLanes;
    Lanes* product = scratch.products.data();
    weights =
        for_each_product<kParts>(weights, width, scratch, [&](const Lanes* vector, const float* matrix) {
          std::fill_n(product, n, Lanes{});
          multiply<kParts>(vector, matrix, product);
          product += n;
        });
    const float* biases = weights + static_cast<std::size_t>(wiring_.n_schemas) * width * width;
    Lanes* sum = scratch.sum.data();
    for (std::size_t op = 0; op < n_operators(); ++op) {
      const auto schema = static_cast<std::size_t>(wiring_.schema[op]);
      for (std::size_t part = 0; part < n; ++part) sum[part] = load(biases + schema * width + part * kLanes);
      for (const std::int32_t row : wiring_.products[op]) {
        const Lanes* added = scratch.products.data() + static_cast<std::size_t>(row) * n;
        for (std::size_t part = 0; part < n; ++part) sum[part] += added[part];
      }
      Lanes* vector = scratch.actions.data() + op * n;
      multiply<kParts>(vector, weights + schema * width * width, sum);
      for (std::size_t part = 0; part < n; ++part) vector[part] = elu(sum[part]);
    }
    return biases + static_cast<std::size_t>(wiring_.n_schemas) * width;
  }

  template <std::size_t kParts>
  [[gnu::always_inline]] void last_layer(const float* weights, bool all, Scratch& scratch) const {
    const std::size_t n = parts<kParts>();
    const std::size_t width = n * kLanes;
    float* score = scratch.scores.data();
    weights = for_each_product<kParts>(weights, 1, scratch, [&](const Lanes* vector, const float* column) {
      *score++ = dot<kParts>(vector, column);
    });
    const float* biases = weights + static_cast<std::size_t>(wiring_.n_schemas) * width;
    for (std::size_t op = 0; op < n_operators(); ++op) {
      if (!all && scratch.applicable[op] == 0) continue;
      const auto schema = static_cast<std::size_t>(wiring_.schema[op]);
      float sum = biases[schema];
      for (const std::int32_t row : wiring_.products[op])
        sum += scratch.scores[static_cast<std::size_t>(row)];
      scratch.logits[op] = sum + dot<kParts>(scratch.actions.data() + op * n, weights + schema * width);
    }
  }

  NetworkWiring wiring_;
  std::vector<Lanes> table_;
  std::vector<float> weights_;
};

}  // namespace plumbline

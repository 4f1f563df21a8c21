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

// Floats that begin where a line of the memory does, so that vectors of any width are read at once.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::size_t size) : lines_((size + kLine - 1) / kLine) {}
  explicit AlignedFloats(const std::vector<float>& numbers) : AlignedFloats(numbers.size()) {
    std::ranges::copy(numbers, data());
  }

  float* data() { return lines_.empty() ? nullptr : lines_.front().numbers; }
  const float* data() const { return lines_.empty() ? nullptr : lines_.front().numbers; }

 private:
  static constexpr std::size_t kLine = 16;
  struct alignas(kLine * sizeof(float)) Line {
    float numbers[kLine];
  };
  std::vector<Line> lines_;
};

// Weights in the order in which they are read. For each layer: by block the matrix of the pools (inputs by
// outputs), that of the fact itself (not in the first layer) and the bias; then by block and slot the matrix
// of a fact in an operator; then by schema the matrix of the operator itself; then by schema the bias. The
// number of hidden units is a multiple of kLanes; for other numbers, add units whose weights are zero.
class ActionSchemaNetwork {
 public:
  static constexpr std::int32_t kMaxHidden = 4096;

  // `table` has rows of hidden units; where an operator selects just one, its activation is made here.
  ActionSchemaNetwork(NetworkWiring wiring, const std::vector<float>& table,
                      const std::vector<float>& weights)
      : wiring_(std::move(wiring)), table_(table), weights_(weights) {
    if (wiring_.n_chunks() != 1) return;
    for (std::size_t i = 0; i < table.size(); i += kLanes) {
      store<kLanes>(elu<kLanes>(load<kLanes>(table_.data() + i)), table_.data() + i);
    }
  }

  std::size_t n_operators() const { return wiring_.n_operators(); }
  std::int32_t n_variables() const { return wiring_.n_variables; }
  std::size_t hidden() const { return static_cast<std::size_t>(wiring_.hidden); }

  // What one evaluation works on.
  struct Scratch {
    explicit Scratch(const ActionSchemaNetwork& network)
        : holds(network.wiring_.facts.size() + 1),
          applicable(network.n_operators()),
          logits(network.n_operators()),
          sum(network.hidden()),
          largest(network.hidden()),
          actions(network.n_operators() * network.hidden()),
          facts(network.wiring_.facts.size() * network.hidden()),
          products(network.n_products() * network.hidden()),
          scores(network.n_products()) {}

    std::vector<std::uint8_t> holds;  // by fact, and last for the operator that is looked at
    std::vector<std::uint8_t> applicable;
    std::vector<float> logits;
    AlignedFloats sum;
    AlignedFloats largest;
    AlignedFloats actions;
    AlignedFloats facts;
    AlignedFloats products;
    std::vector<float> scores;  // products of the last layer
  };

  // Fills `applicable` and the logits of applicable operators, or of all. kWidth units are computed together,
  // which divides the number of hidden units; kHidden is this number as a constant, or 0.
  template <std::size_t kWidth, std::size_t kHidden>
  [[gnu::always_inline]] void evaluate(const std::int32_t* values, bool all, Scratch& scratch) const {
    look(values, scratch);
    first_layer<kWidth, kHidden>(scratch);
    const float* weights = weights_.data();
    for (std::int32_t layer = 0; layer < wiring_.layers; ++layer) {
      weights = proposition_layer<kWidth, kHidden>(layer > 0, weights, scratch);
      if (layer + 1 < wiring_.layers) {
        weights = action_layer<kWidth, kHidden>(weights, scratch);
      } else {
        last_layer<kHidden>(weights, all, scratch);
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

  template <std::size_t kWidth>
  using Floats = typename Vectors<kWidth>::Floats;

  template <std::size_t kWidth>
  [[gnu::always_inline]] static Floats<kWidth> load(const float* numbers) {
    Floats<kWidth> vector;
    std::memcpy(&vector, numbers, sizeof(vector));
    return vector;
  }

  template <std::size_t kWidth>
  [[gnu::always_inline]] static void store(Floats<kWidth> vector, float* numbers) {
    std::memcpy(numbers, &vector, sizeof(vector));
  }

  template <std::size_t kHidden>
  std::size_t hidden() const {
    return kHidden > 0 ? kHidden : hidden();
  }

  // sum += vector times matrix, input by input. With a constant number of units the sum stays in registers.
  template <std::size_t kWidth, std::size_t kHidden>
  [[gnu::always_inline]] void multiply(const float* vector, const float* matrix, float* sum) const {
    if constexpr (kHidden > 0) {
      constexpr std::size_t kParts = kHidden / kWidth;
      Floats<kWidth> held[kParts];
      for (std::size_t part = 0; part < kParts; ++part) held[part] = load<kWidth>(sum + part * kWidth);
      for (std::size_t input = 0; input < kHidden; ++input) {
        const Floats<kWidth> factor = Floats<kWidth>{} + vector[input];
        for (std::size_t part = 0; part < kParts; ++part, matrix += kWidth) {
          held[part] += factor * load<kWidth>(matrix);
        }
      }
      for (std::size_t part = 0; part < kParts; ++part) store<kWidth>(held[part], sum + part * kWidth);
    } else {
      for (std::size_t input = 0; input < hidden(); ++input) {
        const Floats<kWidth> factor = Floats<kWidth>{} + vector[input];
        for (std::size_t i = 0; i < hidden(); i += kWidth, matrix += kWidth) {
          store<kWidth>(load<kWidth>(sum + i) + factor * load<kWidth>(matrix), sum + i);
        }
      }
    }
  }

  template <std::size_t kWidth, std::size_t kHidden>
  [[gnu::always_inline]] void add(const float* vector, float* sum) const {
    for (std::size_t i = 0; i < hidden<kHidden>(); i += kWidth) {
      store<kWidth>(load<kWidth>(sum + i) + load<kWidth>(vector + i), sum + i);
    }
  }

  template <std::size_t kWidth, std::size_t kHidden>
  [[gnu::always_inline]] void activate(const float* sum, float* vector) const {
    for (std::size_t i = 0; i < hidden<kHidden>(); i += kWidth) {
      store<kWidth>(elu<kWidth>(load<kWidth>(sum + i)), vector + i);
    }
  }

  // One number instead of a vector: lane by lane first, then the lanes in their order.
  template <std::size_t kHidden>
  [[gnu::always_inline]] float dot(const float* vector, const float* column) const {
    Floats<kLanes> sum{};
    for (std::size_t i = 0; i < hidden<kHidden>(); i += kLanes) {
      sum += load<kLanes>(vector + i) * load<kLanes>(column + i);
    }
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

  template <std::size_t kWidth, std::size_t kHidden>
  [[gnu::always_inline]] void first_layer(Scratch& scratch) const {
    const std::size_t width = hidden<kHidden>();
    const std::size_t chunks = wiring_.n_chunks();
    for (std::size_t op = 0; op < n_operators(); ++op) {
      scratch.holds.back() = scratch.applicable[op];
      float* vector = scratch.actions.data() + op * width;
      for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
        const float* row = table_.data() + selected(chunk * n_operators() + op, scratch) * width;
        if (chunk == 0) {
          std::copy_n(row, width, vector);
        } else {
          add<kWidth, kHidden>(row, vector);
        }
      }
      if (chunks > 1) activate<kWidth, kHidden>(vector, vector);
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
  template <std::size_t kWidth, std::size_t kHidden>
  [[gnu::always_inline]] const float* proposition_layer(bool has_skip, const float* weights,
                                                        Scratch& scratch) const {
    const std::size_t width = hidden<kHidden>();
    float* sum = scratch.sum.data();
    float* largest = scratch.largest.data();
    float* vector = scratch.facts.data();
    std::size_t pool = 0;
    for (const FactBlock& block : wiring_.blocks) {
      const auto slots = static_cast<std::size_t>(block.slots);
      const float* skip = weights + slots * width * width;
      const float* bias = skip + (has_skip ? width * width : 0);
      for (std::int32_t i = 0; i < block.facts; ++i, vector += width) {
        std::copy_n(bias, width, sum);
        for (std::size_t slot = 0; slot < slots; ++slot, ++pool) {
          maximum<kWidth, kHidden>(wiring_.pools[pool], scratch.actions.data(), largest);
          multiply<kWidth, kHidden>(largest, weights + slot * width * width, sum);
        }
        if (has_skip) multiply<kWidth, kHidden>(vector, skip, sum);
        activate<kWidth, kHidden>(sum, vector);
      }
      weights = bias + width;
    }
    return weights;
  }

  template <std::size_t kWidth, std::size_t kHidden>
  [[gnu::always_inline]] void maximum(std::span<const std::int32_t> members, const float* actions,
                                      float* result) const {
    const std::size_t width = hidden<kHidden>();
    if (members.empty()) {
      std::fill_n(result, width, kEmptyPool);
      return;
    }
    std::copy_n(actions + static_cast<std::size_t>(members[0]) * width, width, result);
    for (const std::int32_t member : members.subspan(1)) {
      const float* vector = actions + static_cast<std::size_t>(member) * width;
      for (std::size_t i = 0; i < width; i += kWidth) {
        const Floats<kWidth> other = load<kWidth>(vector + i);
        const Floats<kWidth> largest = load<kWidth>(result + i);
        store<kWidth>(other > largest ? other : largest, result + i);
      }
    }
  }

  // Calls `use(vector, matrix)` for every row of the products, in their order; returns the next weights.
  template <std::size_t kHidden, class Use>
  [[gnu::always_inline]] const float* for_each_product(const float* weights, std::size_t outputs,
                                                       Scratch& scratch, Use&& use) const {
    const std::size_t width = hidden<kHidden>();
    float* missing = scratch.largest.data();
    std::fill_n(missing, width, kEmptyPool);
    const float* first = scratch.facts.data();
    for (const FactBlock& block : wiring_.blocks) {
      const auto facts = static_cast<std::size_t>(block.facts);
      for (std::int32_t slot = 0; slot < block.slots; ++slot, weights += width * outputs) {
        for (std::size_t row = 0; row < rows_of(block); ++row) {
          use(row == facts ? missing : first + row * width, weights);
        }
      }
      first += facts * width;
    }
    return weights;
  }

  template <std::size_t kWidth, std::size_t kHidden>
  [[gnu::always_inline]] const float* action_layer(const float* weights, Scratch& scratch) const {
    const std::size_t width = hidden<kHidden>();
    float* product = scratch.products.data();
    const auto multiply_row = [&](const float* vector, const float* matrix) __attribute__((always_inline)) {
      std::fill_n(product, width, 0.0F);
      multiply<kWidth, kHidden>(vector, matrix, product);
      product += width;
    };
    weights = for_each_product<kHidden>(weights, width, scratch, multiply_row);
    const float* biases = weights + static_cast<std::size_t>(wiring_.n_schemas) * width * width;
    float* sum = scratch.sum.data();
    for (std::size_t op = 0; op < n_operators(); ++op) {
      const auto schema = static_cast<std::size_t>(wiring_.schema[op]);
      std::copy_n(biases + schema * width, width, sum);
      for (const std::int32_t row : wiring_.products[op]) {
        add<kWidth, kHidden>(scratch.products.data() + static_cast<std::size_t>(row) * width, sum);
      }
      float* vector = scratch.actions.data() + op * width;
      multiply<kWidth, kHidden>(vector, weights + schema * width * width, sum);
      activate<kWidth, kHidden>(sum, vector);
    }
    return biases + static_cast<std::size_t>(wiring_.n_schemas) * width;
  }

  template <std::size_t kHidden>
  [[gnu::always_inline]] void last_layer(const float* weights, bool all, Scratch& scratch) const {
    const std::size_t width = hidden<kHidden>();
    float* score = scratch.scores.data();
    const auto score_row = [&](const float* vector, const float* column)
                               __attribute__((always_inline)) { *score++ = dot<kHidden>(vector, column); };
    weights = for_each_product<kHidden>(weights, 1, scratch, score_row);
    const float* biases = weights + static_cast<std::size_t>(wiring_.n_schemas) * width;
    for (std::size_t op = 0; op < n_operators(); ++op) {
      if (!all && scratch.applicable[op] == 0) continue;
      const auto schema = static_cast<std::size_t>(wiring_.schema[op]);
      float sum = biases[schema];
      for (const std::int32_t row : wiring_.products[op])
        sum += scratch.scores[static_cast<std::size_t>(row)];
      scratch.logits[op] = sum + dot<kHidden>(scratch.actions.data() + op * width, weights + schema * width);
    }
  }

  NetworkWiring wiring_;
  AlignedFloats table_;
  AlignedFloats weights_;
};

}  // namespace plumbline

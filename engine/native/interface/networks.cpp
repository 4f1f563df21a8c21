// The C interface of the networks. Python checks the sizes of arrays, this code their contents.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "interface/guarded.hpp"
#include "networks/action_schema_network.hpp"
#include "networks/elu.hpp"
#include "policies/network_policy.hpp"

using namespace plumbline;

namespace plumbline {

constexpr std::size_t kUsualHidden = 16;  // of published networks

// The baseline of x86-64 has vectors of four floats; the loader takes the widest that the machine has. All
// give the same bits, since no sum is taken apart and nothing is fused (-ffp-contract=off).
// Clang's way of asking the machine cannot be linked into a shared library everywhere (ziglang).
#if defined(PLUMBLINE_WIDTH)  // a benchmark compares machines
constexpr std::size_t kBaseWidth = PLUMBLINE_WIDTH;
#define PLUMBLINE_TARGET(name)
#elif defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
constexpr std::size_t kBaseWidth = kLanes;
#define PLUMBLINE_TARGET(name) __attribute__((target(name)))

PLUMBLINE_TARGET("avx512f")
void evaluate_usual(const ActionSchemaNetwork& network, const std::int32_t* values, bool all,
                    ActionSchemaNetwork::Scratch& scratch) {
  network.evaluate<16, kUsualHidden>(values, all, scratch);
}

PLUMBLINE_TARGET("avx2")
void evaluate_usual(const ActionSchemaNetwork& network, const std::int32_t* values, bool all,
                    ActionSchemaNetwork::Scratch& scratch) {
  network.evaluate<8, kUsualHidden>(values, all, scratch);
}
#else
constexpr std::size_t kBaseWidth = kLanes;
#define PLUMBLINE_TARGET(name)
#endif

PLUMBLINE_TARGET("default")
void evaluate_usual(const ActionSchemaNetwork& network, const std::int32_t* values, bool all,
                    ActionSchemaNetwork::Scratch& scratch) {
  network.evaluate<kBaseWidth, kUsualHidden>(values, all, scratch);
}

void evaluate(const ActionSchemaNetwork& network, const std::int32_t* values, bool all,
              ActionSchemaNetwork::Scratch& scratch) {
  if (network.hidden() == kUsualHidden) {
    evaluate_usual(network, values, all, scratch);
  } else {
    network.evaluate<kLanes, 0>(values, all, scratch);
  }
}

}  // namespace plumbline

namespace {

IndexRows to_index_rows(std::int64_t n_rows, const std::int32_t* begin, const std::int32_t* entries) {
  return {{begin, begin + n_rows + 1}, {entries, entries + begin[n_rows]}};
}

bool in_range(const std::vector<std::int32_t>& numbers, std::size_t end) {
  return std::all_of(numbers.begin(), numbers.end(), [end](std::int32_t number) {
    return number >= 0 && static_cast<std::size_t>(number) < end;
  });
}

// Whether every row of the table that some state can select exists.
bool selects_rows(const NetworkWiring& wiring, std::size_t n_rows) {
  for (std::size_t entry = 0; entry < wiring.base.size(); ++entry) {
    std::int64_t last = wiring.base[entry];
    if (last < 0) return false;
    const auto end = static_cast<std::size_t>(wiring.sources.begin[entry + 1]);
    for (auto i = static_cast<std::size_t>(wiring.sources.begin[entry]); i < end; ++i) {
      if (wiring.values[i] < 0) return false;
      last += wiring.values[i];
    }
    if (static_cast<std::size_t>(last) >= n_rows) return false;
  }
  return true;
}

bool well_formed(const NetworkWiring& wiring, std::size_t n_rows, std::size_t n_weights) {
  const std::size_t n_facts = wiring.facts.size();
  std::size_t block_facts = 0;
  std::size_t pools = 0;
  std::size_t products = 0;
  for (const FactBlock& block : wiring.blocks) {
    if (block.facts < 0 || block.slots < 0 || (block.has_missing & ~1) != 0) return false;
    const auto facts = static_cast<std::size_t>(block.facts);
    const auto slots = static_cast<std::size_t>(block.slots);
    block_facts += facts;
    pools += facts * slots;
    products += (facts + static_cast<std::size_t>(block.has_missing)) * slots;
  }
  const bool has_variables = std::all_of(wiring.facts.begin(), wiring.facts.end(), [&](Fact f) {
    return f.variable >= -1 && f.variable < wiring.n_variables;
  });
  return has_variables && wiring.hidden > 0 && wiring.hidden <= ActionSchemaNetwork::kMaxHidden &&
         static_cast<std::size_t>(wiring.hidden) % kLanes == 0 && wiring.layers > 0 &&
         block_facts == n_facts && pools + 1 == wiring.pools.begin.size() &&
         in_range(wiring.required.entries, n_facts) && in_range(wiring.forbidden.entries, n_facts) &&
         in_range(wiring.sources.entries, n_facts + 1) && in_range(wiring.products.entries, products) &&
         in_range(wiring.pools.entries, wiring.n_operators()) &&
         in_range(wiring.schema, static_cast<std::size_t>(wiring.n_schemas)) &&
         selects_rows(wiring, n_rows) && ActionSchemaNetwork::n_weights(wiring) == n_weights;
}

}  // namespace

// shape: variables, hidden, layers, schemas, facts, operators, chunks, pools, blocks.
PLUMBLINE_API Status plumbline_asnets_create(
    const std::int32_t* shape, const std::int32_t* facts, const std::int32_t* required_begin,
    const std::int32_t* required, const std::int32_t* forbidden_begin, const std::int32_t* forbidden,
    const std::int32_t* base, const std::int32_t* sources_begin, const std::int32_t* sources,
    const std::int32_t* values, const std::int32_t* schema, const std::int32_t* products_begin,
    const std::int32_t* products, const std::int32_t* pools_begin, const std::int32_t* pools,
    const std::int32_t* blocks, std::int64_t n_rows, const float* table, std::int64_t n_weights,
    const float* weights, ActionSchemaNetwork** result) {
  return guarded([&] {
    const std::int64_t n_facts = shape[4];
    const std::int64_t n_operators = shape[5];
    const std::int64_t n_entries = shape[6] * n_operators;
    NetworkWiring wiring{.n_variables = shape[0],
                         .hidden = shape[1],
                         .layers = shape[2],
                         .n_schemas = shape[3],
                         .facts = {},
                         .required = to_index_rows(n_operators, required_begin, required),
                         .forbidden = to_index_rows(n_operators, forbidden_begin, forbidden),
                         .base = {base, base + n_entries},
                         .sources = to_index_rows(n_entries, sources_begin, sources),
                         .values = {values, values + sources_begin[n_entries]},
                         .schema = {schema, schema + n_operators},
                         .products = to_index_rows(n_operators, products_begin, products),
                         .pools = to_index_rows(shape[7], pools_begin, pools),
                         .blocks = {}};
    for (std::int64_t i = 0; i < n_facts; ++i) wiring.facts.push_back({facts[2 * i], facts[2 * i + 1]});
    for (std::int64_t i = 0; i < shape[8]; ++i) {
      wiring.blocks.push_back({blocks[3 * i], blocks[3 * i + 1], blocks[3 * i + 2]});
    }
    if (!well_formed(wiring, static_cast<std::size_t>(n_rows), static_cast<std::size_t>(n_weights))) {
      return false;
    }
    const std::int64_t n_numbers = n_rows * shape[1];
    *result =
        std::make_unique<ActionSchemaNetwork>(std::move(wiring), std::vector<float>(table, table + n_numbers),
                                              std::vector<float>(weights, weights + n_weights))
            .release();
    return true;
  });
}

PLUMBLINE_API void plumbline_asnets_destroy(ActionSchemaNetwork* network) {
  std::unique_ptr<ActionSchemaNetwork>{network}.reset();
}

// Rows of values in, rows of logits and of flags by operator out.
PLUMBLINE_API Status plumbline_asnets_logits(const ActionSchemaNetwork* network, std::int64_t n_states,
                                             const std::int32_t* values, float* logits,
                                             std::uint8_t* applicable) {
  return guarded([&] {
    ActionSchemaNetwork::Scratch scratch(*network);
    for (std::int64_t state = 0; state < n_states; ++state) {
      evaluate(*network, values + state * network->n_variables(), true, scratch);
      logits = std::copy(scratch.logits.begin(), scratch.logits.end(), logits);
      applicable = std::copy(scratch.applicable.begin(), scratch.applicable.end(), applicable);
    }
    return true;
  });
}

// In place, n a multiple of kLanes.
PLUMBLINE_API Status plumbline_elu(std::int64_t n, float* numbers) {
  return guarded([&] {
    Vectors<kLanes>::Floats lanes;
    constexpr auto kStep = static_cast<std::int64_t>(kLanes);
    if (n % kStep != 0) return false;
    for (std::int64_t i = 0; i < n; i += kStep) {
      std::memcpy(&lanes, numbers + i, sizeof(lanes));
      lanes = elu<kLanes>(lanes);
      std::memcpy(numbers + i, &lanes, sizeof(lanes));
    }
    return true;
  });
}

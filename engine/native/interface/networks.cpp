// The C interface of the network layers. Python checks sizes and indices.
#include <cstdint>

#include "interface/guarded.hpp"
#include "networks/layers.hpp"

// The baseline of x86-64 has vectors of four floats; the loader takes the widest that the machine has.
// Clang's way of asking the machine cannot be linked into a shared library everywhere (ziglang).
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define PLUMBLINE_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PLUMBLINE_WIDEST_VECTORS
#endif

using namespace plumbline;

namespace plumbline {

constexpr std::int64_t kVectorWidth = 16;
using FloatVector [[gnu::vector_size(kVectorWidth * sizeof(float))]] = float;

PLUMBLINE_WIDEST_VECTORS void elu_of_vectors(std::int64_t n_rows, std::int64_t width, const float* bias,
                                             float* rows) {
  elu_rows<kVectorWidth>(n_rows, width, bias, rows);
}

PLUMBLINE_WIDEST_VECTORS void pool_of_vectors(const PoolIndex& index, std::int64_t n_states,
                                              std::int64_t pieces, float empty, const float* operators,
                                              float* pools) {
  pool<FloatVector>(index, n_states, pieces, empty, operators, pools);
}

}  // namespace plumbline

PLUMBLINE_API Status plumbline_network_elu_rows(std::int32_t is_double, std::int64_t n_rows,
                                                std::int64_t width, const void* bias, void* rows) {
  return guarded([&] {
    if (is_double != 0) {
      elu_rows<1>(n_rows, width, static_cast<const double*>(bias), static_cast<double*>(rows));
    } else if (width % kVectorWidth == 0) {
      elu_of_vectors(n_rows, width, static_cast<const float*>(bias), static_cast<float*>(rows));
    } else {
      elu_rows<1>(n_rows, width, static_cast<const float*>(bias), static_cast<float*>(rows));
    }
    return true;
  });
}

PLUMBLINE_API Status plumbline_network_pool(const PoolIndex* index, std::int32_t is_double,
                                            std::int64_t n_states, std::int64_t hidden, double empty,
                                            const void* operators, void* pools) {
  return guarded([&] {
    if (is_double != 0) {
      pool<double>(*index, n_states, hidden, empty, static_cast<const double*>(operators),
                   static_cast<double*>(pools));
      return true;
    }
    const auto* rows = static_cast<const float*>(operators);
    auto* result = static_cast<float*>(pools);
    const auto lowest = static_cast<float>(empty);
    if (hidden % kVectorWidth == 0) {
      pool_of_vectors(*index, n_states, hidden / kVectorWidth, lowest, rows, result);
    } else {
      pool<float>(*index, n_states, hidden, lowest, rows, result);
    }
    return true;
  });
}

// The C interface of random walks. As in tasks_and_searches.cpp, Python checks sizes and this code checks
// contents.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include "core/state_store.hpp"
#include "fuzzing/python_random.hpp"
#include "fuzzing/random_walks.hpp"
#include "interface/checked_input.hpp"
#include "interface/guarded.hpp"
#include "search/search.hpp"

using namespace plumbline;

// `random` has the words of Python's generator, and how many of them are used up.
PLUMBLINE_API Status plumbline_walks_create(StateStore* states, const std::int64_t* random, std::int64_t size,
                                            std::int64_t walk_length, std::int32_t novelty,
                                            RandomWalks** result) {
  return guarded([&] {
    constexpr std::int64_t kLongest = std::numeric_limits<std::int32_t>::max();
    const std::int64_t used = random[PythonRandom::kWords];
    if (size < 0 || walk_length < 1 || walk_length > kLongest || novelty < 0 || used < 0) return false;
    *result = std::make_unique<RandomWalks>(*states, PythonRandom(random, static_cast<std::size_t>(used)),
                                            size, walk_length, novelty)
                  .release();
    return true;
  });
}

PLUMBLINE_API void plumbline_walks_destroy(RandomWalks* walks) {
  std::unique_ptr<RandomWalks>{walks}.reset();
}

// Offers a state to the pool.
PLUMBLINE_API Status plumbline_walks_offer(RandomWalks* walks, std::int32_t state, std::int32_t reference,
                                           std::int64_t n, const std::int32_t* operators) {
  return guarded([&] {
    const auto n_entries = static_cast<std::int64_t>(walks->entries().size());
    if (!walks->store().has(state) || reference < -1 || reference >= n_entries) return false;
    if (!are_operators(walks->store().task(), n, operators)) return false;
    walks->offer(state, reference, {operators, static_cast<std::size_t>(n)});
    return true;
  });
}

// Walks until the given number of entries or walks (-1: no limit) or a limit is reached, or no other state is
// left.
PLUMBLINE_API Status plumbline_walks_grow(RandomWalks* walks, std::int64_t n_entries, std::int64_t n_walks,
                                          const Limits* limits, Progress* progress, Outcome* outcome) {
  return guarded([&] {
    if (n_entries < 0) return false;
    Monitor monitor(*limits, progress);
    *outcome = run_limited(monitor, [&] {
      walks->grow(static_cast<std::size_t>(n_entries), n_walks, monitor);
      return Outcome::kSolved;
    });
    return true;
  });
}

// SOLVED: all states that walks can end in were offered. FAILED: one was not.
PLUMBLINE_API Status plumbline_walks_exhausted(RandomWalks* walks, const Limits* limits, Progress* progress,
                                               Outcome* outcome) {
  return guarded([&] {
    Monitor monitor(*limits, progress);
    *outcome = run_limited(
        monitor, [&] { return walks->is_exhausted(monitor) ? Outcome::kSolved : Outcome::kFailed; });
    return true;
  });
}

// `counts`: entries, operators of all their walks, states that were offered, walks, duplicates, filtered
// states, walks that failed.
PLUMBLINE_API Status plumbline_walks_counts(const RandomWalks* walks, std::int64_t* counts) {
  return guarded([&] {
    const RandomWalks::Statistics& statistics = walks->statistics();
    counts[0] = static_cast<std::int64_t>(walks->entries().size());
    counts[1] = static_cast<std::int64_t>(walks->operators().size());
    counts[2] = statistics.offered;
    counts[3] = statistics.walks;
    counts[4] = statistics.duplicates;
    counts[5] = statistics.filtered;
    counts[6] = statistics.failed_walks;
    return true;
  });
}

// Entries from `first` on: states, references, lengths of their walks, and the operators of all these walks.
PLUMBLINE_API Status plumbline_walks_entries(const RandomWalks* walks, std::int64_t first,
                                             std::int32_t* states, std::int32_t* references,
                                             std::int32_t* lengths, std::int32_t* operators) {
  return guarded([&] {
    const std::vector<RandomWalks::Entry>& entries = walks->entries();
    if (first < 0 || first > static_cast<std::int64_t>(entries.size())) return false;
    auto number = static_cast<std::size_t>(first);
    std::size_t begin = number == 0 ? 0 : entries[number - 1].operators_end;
    std::copy(walks->operators().begin() + static_cast<std::ptrdiff_t>(begin), walks->operators().end(),
              operators);
    for (; number < entries.size(); ++number) {
      *states++ = entries[number].state;
      *references++ = entries[number].reference;
      *lengths++ = static_cast<std::int32_t>(entries[number].operators_end - begin);
      begin = entries[number].operators_end;
    }
    return true;
  });
}

// The steps a walk may take from a state; `count` receives how many there are, at most those that are
// applicable, or -1 if the time was over.
PLUMBLINE_API Status plumbline_walks_candidates(RandomWalks* walks, std::int32_t state, const Limits* limits,
                                                Progress* progress, std::int64_t* count) {
  return guarded([&] {
    if (!walks->store().has(state)) return false;
    Monitor monitor(*limits, progress);
    *count = -1;
    const Outcome outcome = run_limited(monitor, [&] {
      *count = static_cast<std::int64_t>(walks->candidates(state, monitor).size());
      return Outcome::kSolved;
    });
    if (outcome == Outcome::kMemoryLimit) throw std::bad_alloc{};
    return true;
  });
}

// Those that were counted last.
PLUMBLINE_API Status plumbline_walks_steps(const RandomWalks* walks, std::int32_t* operators,
                                           std::int32_t* states) {
  return guarded([&] {
    for (const RandomWalks::Candidate candidate : walks->counted()) {
      *operators++ = candidate.op;
      *states++ = candidate.state;
    }
    return true;
  });
}

PLUMBLINE_API Status plumbline_walks_known(const RandomWalks* walks, std::int64_t n,
                                           const std::int32_t* states, std::uint8_t* answers) {
  return guarded([&] {
    if (!std::all_of(states, states + n, [&](std::int32_t state) { return walks->store().has(state); }))
      return false;
    std::transform(states, states + n, answers, [&](std::int32_t state) { return walks->is_known(state); });
    return true;
  });
}

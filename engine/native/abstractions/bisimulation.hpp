// The coarsest bisimulation of a transition system that respects goals and goal distances (Nissim, Hoffmann
// and Helmert 2011, "Computing Perfect Heuristics in Polynomial Time"): by rounds of partition refinement.
// Where it would have too many blocks, the last round ends before the smallest distance at which they do not
// fit anymore.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "abstractions/transition_system.hpp"
#include "core/task.hpp"
#include "search/search.hpp"

namespace plumbline {

class Bisimulation {
 public:
  // `system` has a goal distance in every state.
  Bisimulation(const TransitionSystem& system, std::int32_t max_blocks, Monitor& monitor)
      : monitor_(monitor), max_blocks_(max_blocks), block_of_(system.is_goal.size()) {
    if (!start_with_distances(system)) return;
    list_arcs(system);
    while (!dirty_blocks_.empty() && refine()) {
    }
  }

  // By state.
  const std::vector<std::int32_t>& blocks() const { return block_of_; }
  std::int32_t n_blocks() const { return n_blocks_; }

 private:
  // A range of states, the ones to be looked at again first.
  struct Block {
    std::size_t begin;
    std::size_t end;
    std::size_t n_dirty;
    std::int32_t layer;  // of equal distance
  };
  // The dirty states of a block by what they do: pieces that leave it, one after the other from its
  // beginning.
  struct Division {
    std::int32_t block;
    std::vector<std::size_t> leaving;  // sizes
  };
  using Signature = std::vector<std::uint64_t>;

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  // False if there are too many different distances: then they are lumped together.
  bool start_with_distances(const TransitionSystem& system) {
    std::map<Cost, std::vector<std::int32_t>> layers;
    for (std::int32_t state = 0; state < system.n_states(); ++state) {
      layers[system.is_goal[index(state)] ? -1 : system.distances[index(state)]].push_back(state);
    }
    const auto n_layers = static_cast<std::int64_t>(layers.size());
    position_.resize(block_of_.size());
    std::int64_t layer = 0;
    for (const auto& [distance, states] : layers) {
      const auto block =
          static_cast<std::int32_t>(n_layers <= max_blocks_ ? layer : layer * max_blocks_ / n_layers);
      for (const std::int32_t state : states) {
        block_of_[index(state)] = block;
        position_[index(state)] = states_.size();
        states_.push_back(state);
      }
      blocks_.push_back({states_.size() - states.size(), states_.size(), states.size(), block});
      dirty_blocks_.insert({block, block});
      n_blocks_ = block + 1;
      ++layer;
    }
    return n_layers <= max_blocks_;
  }

  // Idle labels distinguish no states.
  void list_arcs(const TransitionSystem& system) {
    out_begin_.assign(block_of_.size() + 1, 0);
    in_begin_.assign(block_of_.size() + 1, 0);
    std::vector<std::int32_t> relevant;
    for (std::size_t group = 0; group < system.groups.size(); ++group) {
      if (system.is_idle(system.groups[group])) continue;
      relevant.push_back(static_cast<std::int32_t>(group));
      for (const Transition arc : system.groups[group].arcs) {
        ++out_begin_[index(arc.source) + 1];
        ++in_begin_[index(arc.target) + 1];
      }
    }
    for (std::size_t i = 1; i < out_begin_.size(); ++i) {
      out_begin_[i] += out_begin_[i - 1];
      in_begin_[i] += in_begin_[i - 1];
    }
    out_.resize(out_begin_.back());
    in_.resize(in_begin_.back());
    std::vector<std::size_t> out_end(out_begin_.begin(), out_begin_.end() - 1);
    std::vector<std::size_t> in_end(in_begin_.begin(), in_begin_.end() - 1);
    for (const std::int32_t group : relevant) {
      for (const Transition arc : system.groups[index(group)].arcs) {
        out_[out_end[index(arc.source)]++] = {group, arc.target};
        in_[in_end[index(arc.target)]++] = arc.source;
      }
    }
  }

  // Divides all dirty blocks by what their states do now; false if that takes too many.
  bool refine() {
    std::vector<Division> divisions;
    for (const auto& [layer, block] : std::exchange(dirty_blocks_, {})) {
      monitor_.check();
      divisions.push_back(divide(block));
    }
    std::vector<std::int32_t> moved;
    for (auto first = divisions.begin(); first != divisions.end();) {
      const auto layer_of = [this](const Division& division) { return blocks_[index(division.block)].layer; };
      const auto last = std::find_if(first, divisions.end(), [&](const Division& division) {
        return layer_of(division) != layer_of(*first);
      });
      if (!split_layer({first, last}, moved)) return false;
      first = last;
    }
    // Only now: marking states changes their order.
    for (const std::int32_t state : moved) {
      for (std::size_t i = in_begin_[index(state)]; i < in_begin_[index(state) + 1]; ++i) mark(in_[i]);
    }
    return true;
  }

  // Blocks of one distance; false if there would be too many.
  bool split_layer(std::span<const Division> divisions, std::vector<std::int32_t>& moved) {
    std::int64_t n_new = 0;
    for (const Division& division : divisions) n_new += static_cast<std::int64_t>(division.leaving.size());
    if (n_blocks_ + n_new > max_blocks_) return false;
    for (const Division& division : divisions) {
      blocks_[index(division.block)].n_dirty = 0;
      for (const std::size_t size : division.leaving) split_off(division.block, size, moved);
    }
    return true;
  }

  // States that are not dirty do the same as each other; with the states that do as they do they stay.
  Division divide(std::int32_t number) {
    const Block& block = blocks_[index(number)];
    std::vector<std::pair<Signature, std::int32_t>> dirty;
    for (std::size_t i = 0; i < block.n_dirty; ++i) {
      const std::int32_t state = states_[block.begin + i];
      dirty.emplace_back(signature(state), state);
    }
    std::ranges::sort(dirty);
    std::vector<std::pair<std::size_t, std::size_t>> pieces;  // ranges of equal signatures
    for (std::size_t i = 0; i < dirty.size(); ++i) {
      if (i == 0 || dirty[i].first != dirty[i - 1].first) pieces.emplace_back(i, i);
      pieces.back().second = i + 1;
    }
    auto staying = pieces.end();
    if (block.begin + block.n_dirty == block.end) {
      staying =
          std::ranges::max_element(pieces, {}, [](const auto& piece) { return piece.second - piece.first; });
    } else {
      const Signature others = signature(states_[block.begin + block.n_dirty]);
      staying =
          std::ranges::find_if(pieces, [&](const auto& piece) { return dirty[piece.first].first == others; });
    }
    Division division{number, {}};
    std::size_t place = block.begin;
    const auto put = [&](const std::pair<std::size_t, std::size_t>& piece) {
      for (std::size_t i = piece.first; i < piece.second; ++i) move_to(dirty[i].second, place++);
    };
    for (auto piece = pieces.begin(); piece != pieces.end(); ++piece) {
      if (piece == staying) continue;
      put(*piece);
      division.leaving.push_back(piece->second - piece->first);
    }
    if (staying != pieces.end()) put(*staying);
    return division;
  }

  Signature signature(std::int32_t state) const {
    Signature result;
    for (std::size_t i = out_begin_[index(state)]; i < out_begin_[index(state) + 1]; ++i) {
      const auto group = static_cast<std::uint64_t>(out_[i].first);
      result.push_back(group << 32 | static_cast<std::uint32_t>(block_of_[index(out_[i].second)]));
    }
    std::ranges::sort(result);
    result.erase(std::ranges::unique(result).begin(), result.end());
    return result;
  }

  // The first states of a block become one of their own.
  void split_off(std::int32_t number, std::size_t size, std::vector<std::int32_t>& moved) {
    const Block old = blocks_[index(number)];
    blocks_.push_back({old.begin, old.begin + size, 0, old.layer});
    blocks_[index(number)].begin += size;
    for (std::size_t i = old.begin; i < old.begin + size; ++i) {
      block_of_[index(states_[i])] = n_blocks_;
      moved.push_back(states_[i]);
    }
    ++n_blocks_;
  }

  void mark(std::int32_t state) {
    Block& block = blocks_[index(block_of_[index(state)])];
    const std::size_t first_clean = block.begin + block.n_dirty;
    if (position_[index(state)] < first_clean) return;
    const std::int32_t other = states_[first_clean];
    const std::size_t place = position_[index(state)];
    move_to(state, first_clean);
    move_to(other, place);
    if (++block.n_dirty == 1) dirty_blocks_.insert({block.layer, block_of_[index(state)]});
  }

  void move_to(std::int32_t state, std::size_t place) {
    states_[place] = state;
    position_[index(state)] = place;
  }

  Monitor& monitor_;
  std::int64_t max_blocks_;
  std::vector<std::int32_t> block_of_;
  std::int32_t n_blocks_ = 0;
  std::vector<Block> blocks_;
  std::vector<std::int32_t> states_;                              // by block
  std::vector<std::size_t> position_;                             // in states_
  std::set<std::pair<std::int32_t, std::int32_t>> dirty_blocks_;  // with their layers, which come first
  std::vector<std::size_t> out_begin_;
  std::vector<std::pair<std::int32_t, std::int32_t>> out_;  // group and target, by source
  std::vector<std::size_t> in_begin_;
  std::vector<std::int32_t> in_;  // sources by target
};

}  // namespace plumbline

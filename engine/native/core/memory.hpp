// Growing blocks of memory that are charged to one account, so that a search can keep a byte limit exactly.
// Big blocks live on huge pages (a search probes its table at random: fewer address translations) and grow by
// moving pages instead of copying bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#include <sys/mman.h>
#define PLUMBLINE_MOVES_PAGES 1
#else
#define PLUMBLINE_MOVES_PAGES 0  // malloc everywhere: portable, and the sanitizer sees every block
#endif

namespace plumbline {

// The account is overdrawn: unlike std::bad_alloc an expected end of a search.
struct MemoryLimitReached {};

class MemoryAccount {
 public:
  explicit MemoryAccount(std::size_t limit = std::numeric_limits<std::size_t>::max()) : limit_(limit) {}
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  void charge(std::size_t bytes) {
    if (bytes > limit_ - used_) throw MemoryLimitReached{};
    used_ += bytes;
    if (used_ > peak_) peak_ = used_;
  }
  void release(std::size_t bytes) { used_ -= bytes; }
  std::size_t used() const { return used_; }
  std::size_t peak() const { return peak_; }

 private:
  std::size_t limit_;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;
};

// The estimated memory of an object that grows, shrinks and allocates for itself.
class TemporaryCharge {
 public:
  explicit TemporaryCharge(MemoryAccount& account) : account_(account) {}
  TemporaryCharge(const TemporaryCharge&) = delete;
  TemporaryCharge& operator=(const TemporaryCharge&) = delete;
  ~TemporaryCharge() { account_.release(bytes_); }

  void set(std::size_t bytes) {
    if (bytes > bytes_) account_.charge(bytes - bytes_);
    if (bytes < bytes_) account_.release(bytes_ - bytes);
    bytes_ = bytes;
  }

 private:
  MemoryAccount& account_;
  std::size_t bytes_ = 0;
};

// Owns zero-initialized bytes; `grow` keeps the contents and invalidates pointers.
class Block {
 public:
  explicit Block(MemoryAccount& account) : account_(&account) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { clear(); }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t capacity() const { return capacity_; }

  // At least `bytes`, with room to grow: small blocks double, big ones gain an eighth since moving is cheap.
  void grow(std::size_t bytes) {
    if (bytes <= capacity_) return;
    const std::size_t step = capacity_ < kBig ? capacity_ : capacity_ / 8;
    std::size_t wanted = capacity_ + step > bytes ? capacity_ + step : bytes;
    const std::size_t unit = wanted < kBig ? 64 : kHugePage;
    wanted = (wanted + unit - 1) / unit * unit;
    account_->charge(wanted - capacity_);
    std::byte* moved = nullptr;
    try {
      moved = move_to(wanted);
    } catch (...) {
      account_->release(wanted - capacity_);
      throw;
    }
    data_ = moved;
    capacity_ = wanted;
  }

  void clear() {
    if (data_ != nullptr) free_bytes(data_, capacity_);
    account_->release(capacity_);
    data_ = nullptr;
    capacity_ = 0;
  }

  void swap(Block& other) {
    std::swap(account_, other.account_);
    std::swap(data_, other.data_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;
  static constexpr std::size_t kBig = 2 * kHugePage;

#if PLUMBLINE_MOVES_PAGES
  static bool is_mapped(std::size_t bytes) { return bytes >= kBig; }

  static std::byte* map_bytes(std::size_t bytes) {
    void* raw = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED) throw std::bad_alloc{};
    auto* first = static_cast<std::byte*>(raw);
    const auto misfit = reinterpret_cast<std::uintptr_t>(first) % kHugePage;
    const std::size_t head = misfit == 0 ? 0 : kHugePage - misfit;
    if (head > 0) munmap(first, head);
    if (head < kHugePage) munmap(first + head + bytes, kHugePage - head);
    madvise(first + head, bytes, MADV_HUGEPAGE);  // a wish: without huge pages it is merely slower
    return first + head;
  }

  std::byte* move_to(std::size_t wanted) {
    if (!is_mapped(wanted)) return reallocate(wanted);
    std::byte* target = map_bytes(wanted);
    if (is_mapped(capacity_)) {
      if (mremap(data_, capacity_, capacity_, MREMAP_MAYMOVE | MREMAP_FIXED, target) == MAP_FAILED) {
        munmap(target, wanted);
        throw std::bad_alloc{};
      }
      madvise(target, wanted, MADV_HUGEPAGE);
    } else if (data_ != nullptr) {
      std::memcpy(target, data_, capacity_);
      std::free(data_);
    }
    return target;
  }

  static void free_bytes(std::byte* data, std::size_t bytes) {
    if (is_mapped(bytes)) {
      munmap(data, bytes);
    } else {
      std::free(data);
    }
  }
#else
  std::byte* move_to(std::size_t wanted) { return reallocate(wanted); }
  static void free_bytes(std::byte* data, std::size_t) { std::free(data); }
#endif

  std::byte* reallocate(std::size_t wanted) {
    auto* moved = static_cast<std::byte*>(std::realloc(data_, wanted));
    if (moved == nullptr) throw std::bad_alloc{};
    std::memset(moved + capacity_, 0, wanted - capacity_);
    return moved;
  }

  MemoryAccount* account_;
  std::byte* data_ = nullptr;
  std::size_t capacity_ = 0;
};

// A vector of plain values on a Block; new elements are zero.
template <class T>
class Array {
 public:
  explicit Array(MemoryAccount& account) : block_(account) {}

  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T* data() { return reinterpret_cast<T*>(block_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(block_.data()); }

  void push_back(T value) {
    if ((size_ + 1) * sizeof(T) > block_.capacity()) block_.grow((size_ + 1) * sizeof(T));
    data()[size_++] = value;
  }
  void resize(std::size_t size) {
    block_.grow(size * sizeof(T));
    size_ = size;
  }
  void swap(Array& other) {
    block_.swap(other.block_);
    std::swap(size_, other.size_);
  }

 private:
  Block block_;
  std::size_t size_ = 0;
};

}  // namespace plumbline

#include "base/random.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace eflops {
namespace {

// SplitMix64's finaliser: spreads structured keys over all 64 bits.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c[2];
    c = {high(p1) ^ c[1] ^ k[0], low(p1), high(p0) ^ c[3] ^ k[1], low(p0)};
    k[0] += 0x9E3779B9U;
    k[1] += 0xBB67AE85U;
  }
  return c;
}

Random::Random(std::uint64_t seed, Purpose purpose, std::uint64_t a, std::uint64_t b) {
  const std::uint64_t key = mix(seed ^ mix(static_cast<std::uint64_t>(purpose)));
  key_ = {low(key), high(key)};
  // (a, b) is mixed into the upper counter words; the two lowest words count blocks of this stream.
  const std::uint64_t stream = mix(mix(a) ^ (b * 0xD1342543DE82EF95ULL + 0x2545F4914F6CDD1DULL));
  counter_ = {0, 0, low(stream), high(stream)};
}

std::uint32_t Random::next_u32() {
  if (used_ == 4) {
    block_ = philox(counter_, key_);
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
  }
  return block_[static_cast<std::size_t>(used_++)];
}

std::uint64_t Random::next_u64() {
  const std::uint64_t first = next_u32();
  return first << 32 | next_u32();
}

double Random::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

std::uint64_t Random::below(std::uint64_t bound) {
  EFLOPS_CHECK(bound > 0, "empty range");
  __extension__ using Wide = unsigned __int128;
  Wide product = Wide{next_u64()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t reject = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < reject) product = Wide{next_u64()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

double Random::truncated_normal() {
  double value = normal();
  while (std::abs(value) > 2.0) value = normal();
  return value;
}

}  // namespace eflops

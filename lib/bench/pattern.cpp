#include "bench/pattern.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bfloat16.h"
#include "base/error.h"
#include "base/float16.h"
#include "base/hash.h"

namespace eflops::bench {
namespace {

using coll::Collective;
using coll::Range;
using kernels::Element;
using kernels::Reduction;

std::uint64_t draw(std::int64_t position, std::int64_t run, std::int64_t rank) {
  const std::array<std::int64_t, 3> key{position, run, rank};
  return hash64(std::as_bytes(std::span(key)));
}

/// Up to here every integer is exact.
std::int64_t exact_limit(Element element) {
  switch (element) {
    case Element::BF16:
      return 1 << 8;
    case Element::F16:
      return 1 << 11;
    case Element::F32:
      return 1 << 24;
    case Element::I8:
      return 127;
    case Element::U8:
      return 254;  // 255 is poison
    case Element::F64:
    case Element::I32:
    case Element::U32:
    case Element::I64:
    case Element::U64:
      return 1 << 30;
  }
  throw InternalError("element type {} has no limit", static_cast<int>(element));
}

template <typename T>
void put(std::byte* place, T value) {
  std::memcpy(place, &value, sizeof value);
}

/// Writes an integer, or for an average a quotient, as an element.
void put_element(Element element, std::byte* place, double value) {
  switch (element) {
    case Element::F32:
      return put(place, static_cast<float>(value));
    case Element::F64:
      return put(place, value);
    case Element::BF16:
      return put(place, to_bf16(static_cast<float>(value)).bits);
    case Element::F16:
      return put(place, to_f16(static_cast<float>(value)).bits);
    case Element::I8:
      return put(place, static_cast<std::int8_t>(value));
    case Element::U8:
      return put(place, static_cast<std::uint8_t>(value));
    case Element::I32:
      return put(place, static_cast<std::int32_t>(value));
    case Element::U32:
      return put(place, static_cast<std::uint32_t>(value));
    case Element::I64:
      return put(place, static_cast<std::int64_t>(value));
    case Element::U64:
      return put(place, static_cast<std::uint64_t>(value));
  }
}

}  // namespace

Pattern::Pattern(Element element, Reduction reduction, const coll::Problem& problem)
    : element_(element),
      reduction_(reduction),
      problem_(problem),
      element_bytes_(kernels::bytes_of(element)),
      largest_(std::clamp<std::int64_t>(exact_limit(element) / problem.ranks, 1, 1000)),
      adding_(static_cast<int>(std::min<std::int64_t>(problem.ranks, exact_limit(element)))),
      most_twos_(std::min(problem.ranks, 6)) {}

double Pattern::value(int rank, std::int64_t position, std::int64_t run) const {
  const std::uint64_t drawn = draw(position, run, rank);
  const bool reduces = problem_.collective == Collective::Allreduce || problem_.collective == Collective::ReduceScatter;
  if (!reduces || reduction_ == Reduction::Min || reduction_ == Reduction::Max) return static_cast<double>(drawn % 101);
  if (reduction_ == Reduction::Product) {
    // `twos` ranks, the first of them drawn, hold a 2; the others 1.
    const std::uint64_t common = draw(position, run, -1);
    const auto ranks = static_cast<std::uint64_t>(problem_.ranks);
    const std::uint64_t twos = common % (static_cast<std::uint64_t>(most_twos_) + 1);
    const std::uint64_t first = (common >> 8) % ranks;
    return (static_cast<std::uint64_t>(rank) + ranks - first) % ranks < twos ? 2 : 1;
  }
  return rank < adding_ ? static_cast<double>(drawn % (static_cast<std::uint64_t>(largest_) + 1)) : 0;
}

double Pattern::answer(std::int64_t position, std::int64_t run) const {
  double result = value(0, position, run);
  for (int rank = 1; rank < problem_.ranks; ++rank) {
    const double next = value(rank, position, run);
    switch (reduction_) {
      case Reduction::Sum:
      case Reduction::Average:
        result += next;
        break;
      case Reduction::Product:
        result *= next;
        break;
      case Reduction::Min:
        result = std::min(result, next);
        break;
      case Reduction::Max:
        result = std::max(result, next);
        break;
    }
  }
  if (reduction_ != Reduction::Average) return result;
  // As the kernels divide: in float for all but f64, whose quotient put_element would round a second time otherwise.
  if (element_ == Element::F64) return result / problem_.ranks;
  const float quotient = static_cast<float>(result) / static_cast<float>(problem_.ranks);
  const bool is_float = element_ == Element::F32 || element_ == Element::BF16 || element_ == Element::F16;
  return is_float ? static_cast<double>(quotient)
                  : static_cast<double>(static_cast<std::int64_t>(result) / problem_.ranks);
}

Pattern::Period Pattern::period(const auto& value_at) const {
  const std::int64_t positions = std::min(kPeriod, problem_.elements);
  Period elements(static_cast<std::size_t>(positions * element_bytes_));
  for (std::int64_t position = 0; position < positions; ++position) {
    put_element(element_, elements.data() + position * element_bytes_, value_at(position));
  }
  return elements;
}

void Pattern::fill(std::span<std::byte> buffer, int rank, std::int64_t run) const {
  const Period mine = period([&](std::int64_t position) { return value(rank, position, run); });
  for (std::size_t begin = 0; begin < buffer.size(); begin += mine.size()) {
    std::memcpy(buffer.data() + begin, mine.data(), std::min(mine.size(), buffer.size() - begin));
  }
}

void Pattern::poison(std::span<std::byte> buffer) {
  if (!buffer.empty()) std::memset(buffer.data(), 0xFF, buffer.size());
}

std::int64_t Pattern::wrong_in(std::span<const std::byte> result, Range range, std::int64_t first,
                               const Period& expected) const {
  std::int64_t wrong = 0;
  for (std::int64_t at = range.begin; at < range.end;) {
    const std::int64_t position = (first + at - range.begin) % kPeriod;
    const std::int64_t count = std::min(kPeriod - position, range.end - at);
    const std::byte* const found = result.data() + at * element_bytes_;
    const std::byte* const wanted = expected.data() + position * element_bytes_;
    if (std::memcmp(found, wanted, static_cast<std::size_t>(count * element_bytes_)) != 0) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto offset = i * element_bytes_;
        wrong += std::memcmp(found + offset, wanted + offset, static_cast<std::size_t>(element_bytes_)) != 0 ? 1 : 0;
      }
    }
    at += count;
  }
  return wrong;
}

std::int64_t Pattern::count_wrong(std::span<const std::byte> result, int rank, std::int64_t run) const {
  const auto from = [&](int source) {
    return period([&](std::int64_t position) { return value(source, position, run); });
  };
  const auto block = [&](int index) { return coll::block_of(problem_.all(), problem_.ranks, index); };
  switch (problem_.collective) {
    case Collective::Allreduce:
    case Collective::ReduceScatter: {
      const Range range = problem_.collective == Collective::Allreduce ? problem_.all() : block(rank);
      return wrong_in(result, range, range.begin, period([&](std::int64_t position) { return answer(position, run); }));
    }
    case Collective::Broadcast:
      return wrong_in(result, problem_.all(), 0, from(problem_.root));
    case Collective::AllGather: {
      std::int64_t wrong = 0;
      for (int source = 0; source < problem_.ranks; ++source) {
        wrong += wrong_in(result, block(source), block(source).begin, from(source));
      }
      return wrong;
    }
    case Collective::AllToAll: {
      std::int64_t wrong = 0;
      for (int source = 0; source < problem_.ranks; ++source) {
        wrong += wrong_in(result, block(source), block(rank).begin, from(source));
      }
      return wrong;
    }
  }
  throw InternalError("collective {} has no answer", static_cast<int>(problem_.collective));
}

}  // namespace eflops::bench

#include "data/cover_check.h"

#include "base/error.h"
#include "base/hash.h"
#include "data/pretrain_instance.h"

namespace eflops::data {
namespace {

std::uint64_t mixed(std::uint64_t sample) { return hash64(std::as_bytes(std::span(&sample, 1))); }

}  // namespace

void CoverCheck::add(const PretrainBatch& batch) {
  for (const PackedTextBatch& shard : batch.shards) {
    for (const std::uint64_t sample : shard.sample_keys) sum_ += mixed(sample);
    samples_ += shard.sequences();
  }
  ended_epochs_.insert(ended_epochs_.end(), batch.ended_epochs.begin(), batch.ended_epochs.end());
}

void CoverCheck::verify(StreamPosition end) const {
  if (std::ssize(ended_epochs_) != end.epoch - start_.epoch)
    throw CheckFailed("data cover: {} epochs ended between epoch {} and epoch {}", ended_epochs_.size(), start_.epoch,
                      end.epoch);
  std::int64_t planned = 0;
  std::uint64_t sum = 0;
  for (std::int64_t epoch = start_.epoch; epoch <= end.epoch; ++epoch) {
    const std::int64_t from = epoch == start_.epoch ? start_.next : 0;
    const std::int64_t to =
        epoch == end.epoch ? end.next : ended_epochs_[static_cast<std::size_t>(epoch - start_.epoch)];
    for (std::int64_t index = from; index < to; ++index) sum += mixed(sample_id(epoch, index));
    planned += to - from;
  }
  if (planned != samples_ || sum != sum_)
    throw CheckFailed(
        "data cover: {} samples were used, {} are planned from sample {} of epoch {} to sample {} of {}{}", samples_,
        planned, start_.next, start_.epoch, end.next, end.epoch,
        planned == samples_ ? "; the same number, but not the same samples" : "");
}

}  // namespace eflops::data

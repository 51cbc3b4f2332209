#include "comm/executor.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace eflops::comm {

Executor::Executor(Transport& transport, Plan plan, kernels::Element element, kernels::Reduction reduction, int window)
    : transport_(transport),
      plan_(std::move(plan)),
      element_(element),
      reduction_(reduction),
      element_bytes_(kernels::bytes_of(element)),
      window_(window) {
  EFLOPS_CHECK(window >= 1, "a window of {}", window);
  std::map<std::pair<int, Operation::Kind>, int> index_of;
  for (std::size_t i = 0; i < plan_.operations.size(); ++i) {
    const Operation& operation = plan_.operations[i];
    if (operation.kind == Operation::Kind::Local) {
      channel_of_.push_back(-1);
      continue;
    }
    const auto [found, is_new] =
        index_of.try_emplace({operation.peer, operation.kind}, static_cast<int>(channels_.size()));
    if (is_new) channels_.emplace_back();
    channel_of_.push_back(found->second);
    channels_[static_cast<std::size_t>(found->second)].operations.push_back(static_cast<int>(i));
    if (operation.kind == Operation::Kind::Send) bytes_sent_ += operation.range.size() * element_bytes_;
  }
}

void Executor::run(const Memories& memories, Deadline deadline) {
  left_ = static_cast<int>(plan_.operations.size());
  waits_for_.clear();
  local_ready_.clear();
  posted_.clear();
  for (const Operation& operation : plan_.operations) {
    if (operation.kind == Operation::Kind::Local && operation.waits_for == 0) {
      local_ready_.push_back(static_cast<int>(waits_for_.size()));
    }
    waits_for_.push_back(operation.waits_for);
  }
  for (Channel& channel : channels_) channel.next = 0, channel.open = 0;
  while (true) {
    do_local(memories);
    for (Channel& channel : channels_) post(channel, memories);
    if (left_ == 0) return;
    EFLOPS_CHECK(!posted_.empty(), "{} operations are left and none can start", left_);
    done_.clear();
    transport_.wait(deadline, done_);
    for (const Ticket ticket : done_) {
      const auto found =
          std::find_if(posted_.begin(), posted_.end(), [ticket](const auto& entry) { return entry.first == ticket; });
      EFLOPS_CHECK(found != posted_.end(), "ticket {} was not posted here", ticket);
      const int operation = found->second;
      posted_.erase(found);
      --channels_[static_cast<std::size_t>(channel_of_[static_cast<std::size_t>(operation)])].open;
      end(operation);
    }
  }
}

std::byte* Executor::at(const Memories& memories, Memory memory, std::int64_t element) const {
  std::byte* const begin = memories[static_cast<std::size_t>(memory)];
  EFLOPS_CHECK(begin != nullptr, "memory {} is used and was not given", static_cast<int>(memory));
  return begin + element * element_bytes_;
}

const std::byte* Executor::base_of(const Memories& memories, const Operation& operation) const {
  return at(memories, operation.with_input ? Memory::Input : operation.memory, operation.range.begin);
}

void Executor::end(int operation) {
  --left_;
  for (const int next : plan_.operations[static_cast<std::size_t>(operation)].then) {
    const auto index = static_cast<std::size_t>(next);
    if (--waits_for_[index] == 0 && channel_of_[index] < 0) local_ready_.push_back(next);
  }
}

void Executor::do_local(const Memories& memories) {
  while (!local_ready_.empty()) {
    const int index = local_ready_.back();
    local_ready_.pop_back();
    const Operation& operation = plan_.operations[static_cast<std::size_t>(index)];
    std::byte* const target = at(memories, operation.memory, operation.range.begin);
    const std::byte* const source = at(memories, operation.from, operation.source_begin);
    if (operation.reduces) {
      kernels::reduce(reduction_, element_, base_of(memories, operation), source, target, operation.range.size());
    } else {
      std::memcpy(target, source, static_cast<std::size_t>(operation.range.size() * element_bytes_));
    }
    end(index);
  }
}

void Executor::post(Channel& channel, const Memories& memories) {
  while (channel.next < channel.operations.size() && channel.open < window_) {
    const int index = channel.operations[channel.next];
    const auto at_index = static_cast<std::size_t>(index);
    if (waits_for_[at_index] > 0) return;
    const Operation& operation = plan_.operations[at_index];
    const std::span<std::byte> bytes(at(memories, operation.memory, operation.range.begin),
                                     static_cast<std::size_t>(operation.range.size() * element_bytes_));
    const Ticket ticket =
        operation.kind == Operation::Kind::Send
            ? transport_.post_send(operation.peer, bytes)
            : transport_.post_receive(operation.peer, bytes,
                                      {operation.reduces, reduction_, element_, base_of(memories, operation)});
    posted_.emplace_back(ticket, index);
    ++channel.next;
    ++channel.open;
  }
}

}  // namespace eflops::comm

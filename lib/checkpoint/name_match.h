#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/tensor_view.h"

namespace eflops::checkpoint {

/// A tensor that a BERT model wants from a directory, under Hugging Face's BertForPreTraining name.
struct WantedTensor {
  enum class Need {
    Required,  ///< part of the encoder: its absence is an error
    Optional,  ///< a head: made anew where it is missing or has another shape, and listed as missing
  };
  std::string name = {};
  std::vector<std::int64_t> shape = {};
  Need need = Need::Required;
  bool rows_may_be_padded =
      false;  ///< shape[0] is a vocabulary that the stored tensor may pad (see check_vocabulary_fits)
};

/// Which stored tensor serves which wanted one.
struct NameMatch {
  std::vector<const TensorView*> source;  ///< one for each wanted tensor; nullptr where it is missing
  std::vector<std::string> used;
  std::vector<std::string> ignored;  ///< stored but not wanted: heads and buffers
  std::vector<std::string> missing;  ///< wanted, optional, not stored

  /// "202 tensors used; ignored: cls.x, cls.y; missing, made anew: none".
  std::string summary() const;
};

/// The BertForPreTraining name of a tensor of any BERT directory: a body saved without its "bert." prefix, and
/// LayerNorm's old `gamma` and `beta`, get today's names.
std::string canonical_bert_name(std::string_view stored);

/// Finds each wanted tensor among the stored ones, by canonical name. DataError, beginning with `where`, names the
/// tensor and both shapes: a required tensor that is missing or of another shape, an unknown tensor of the body
/// ("bert."), two stored tensors with one canonical name. Heads (`cls.*`, `classifier.*` ...) that are not wanted are
/// ignored and listed.
NameMatch match_bert_names(std::span<const TensorView> stored, std::span<const WantedTensor> wanted,
                           std::string_view where);

}  // namespace eflops::checkpoint

#include "kernels/targets.h"

#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/targets.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace eflops::kernels::HWY_NAMESPACE {
namespace {

const char* compiled_target() { return hwy::TargetName(HWY_TARGET); }

}  // namespace
}  // namespace eflops::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace eflops::kernels {
namespace {

HWY_EXPORT(compiled_target);

// The CPU's own list, read before use_target narrows it; the baseline runs everywhere, whether the CPU lists it or not.
std::vector<std::int64_t> available_bits() {
  static const std::int64_t all = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
  std::vector<std::int64_t> bits;
  for (std::int64_t rest = all; rest != 0; rest &= rest - 1) bits.push_back(rest & -rest);
  return bits;
}

}  // namespace

std::vector<std::string> available_targets() {
  std::vector<std::string> names;
  for (const std::int64_t bit : available_bits()) names.emplace_back(hwy::TargetName(bit));
  return names;
}

std::string active_target() { return HWY_DYNAMIC_DISPATCH(compiled_target)(); }

void use_target(const std::string& name) {
  for (const std::int64_t bit : available_bits()) {
    if (name != hwy::TargetName(bit)) continue;
    hwy::GetChosenTarget().Update(bit);
    return;
  }
  throw ConfigError("kernel target '{}' is not available here; available: {}", name,
                    fmt::join(available_targets(), ", "));
}

}  // namespace eflops::kernels
#endif

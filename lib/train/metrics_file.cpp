#include "train/metrics_file.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace eflops::train {
namespace {

// The lines of `text` that belong to steps up to `last`; a line without an end was torn by a kill.
std::string lines_up_to(const std::string& text, std::int64_t last, const std::string& where) {
  std::string kept;
  std::size_t begin = 0;
  int number = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
    const std::string_view line(text.data() + begin, end - begin);
    const Json value = parse_json(line, fmt::format("{}:{}", where, ++number));
    if (!value.is_object() || !value.contains("step") || !value["step"].is_number_integer())
      throw DataError("{}:{}: no integer \"step\"", where, number);
    if (value["step"].get<std::int64_t>() <= last) kept.append(line).push_back('\n');
  }
  return kept;
}

}  // namespace

MetricsFile::MetricsFile(const std::filesystem::path& file, std::int64_t resumed_step) : file_(file) {
  if (!std::filesystem::exists(file_)) return;
  const std::string text = read_file(file_);
  const std::string kept = lines_up_to(text, resumed_step, file_.string());
  if (kept != text) write_file_atomically(file_, kept);
}

void MetricsFile::append(std::int64_t step, std::string_view kind, std::span<const NamedValue> values) {
  Json line;
  line["step"] = step;
  line["kind"] = kind;
  for (const NamedValue& value : values) line[value.name] = value.value;
  append_line(file_, to_json_line(line));
  if (events_) events_->append(step, kind, values);
}

}  // namespace eflops::train

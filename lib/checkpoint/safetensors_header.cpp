#include "checkpoint/safetensors_header.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/error.h"
#include "base/json.h"
#include "checkpoint/untrusted_text.h"

namespace eflops::checkpoint {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxDimensions = 32;
constexpr std::string_view kMetadataKey = "__metadata__";

struct Entry {
  std::string name;
  std::string dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> offsets;
  bool has_shape = false;
  bool has_offsets = false;
};

/// Receives the JSON header event by event, so that a header of 100 MB never becomes a tree and each surprise is
/// refused where it stands.
class HeaderHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderHandler(std::string_view where) : where_(where) {}

  std::vector<Entry> take_entries() { return std::move(entries_); }
  Metadata take_metadata() { return std::move(metadata_); }

  bool start_object(std::size_t) override {
    if (place_ == Place::Outside) return enter(Place::Root);
    if (place_ == Place::Root) return enter(name_ == kMetadataKey ? Place::MetadataObject : Place::TensorObject);
    return refuse("an object");
  }

  bool key(std::string& text) override {
    if (place_ == Place::Root) {
      if (!names_.insert(text).second) fail("tensor {} stands twice", shown(text));
      name_ = text;
    } else {
      key_ = text;
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::TensorObject) finish_entry();
    place_ = place_ == Place::Root ? Place::Outside : Place::Root;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::TensorObject) return refuse("an array");
    if (key_ == "shape" && !entry_.has_shape) {
      entry_.has_shape = true;
      return enter(Place::ShapeArray);
    }
    if (key_ == "data_offsets" && !entry_.has_offsets) {
      entry_.has_offsets = true;
      return enter(Place::OffsetsArray);
    }
    return refuse("an array");
  }

  bool end_array() override { return enter_kept(Place::TensorObject); }

  bool string(std::string& text) override {
    if (place_ == Place::MetadataObject) {
      if (!metadata_.emplace(key_, text).second) fail("{} has key {} twice", kMetadataKey, shown(key_));
      return true;
    }
    if (place_ != Place::TensorObject || key_ != "dtype" || !entry_.dtype.empty()) return refuse("text");
    if (dtype_size(text) == 0)
      fail("tensor {} has unknown dtype {}, known are {}", shown(name_), shown(text), known_dtypes());
    entry_.dtype = text;
    return true;
  }

  bool number_unsigned(std::uint64_t value) override {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      fail("tensor {}: {} {} is above 2^63 - 1", shown(name_), shown(key_), value);
    if (place_ == Place::ShapeArray) {
      if (entry_.shape.size() == kMaxDimensions)
        fail("tensor {} has more than {} dimensions", shown(name_), kMaxDimensions);
      entry_.shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (place_ != Place::OffsetsArray) return refuse("a number");
    if (entry_.offsets.size() == 2) fail("tensor {} has more than two data_offsets", shown(name_));
    entry_.offsets.push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool number_integer(std::int64_t value) override {
    if (place_ == Place::ShapeArray || place_ == Place::OffsetsArray)
      fail("tensor {}: {} {} is negative", shown(name_), shown(key_), value);
    return refuse("a number");
  }
  bool number_float(double, const std::string& text) override {
    if (place_ == Place::ShapeArray || place_ == Place::OffsetsArray)
      fail("tensor {}: {} {} is not an integer", shown(name_), shown(key_), shown(text));
    return refuse("a number");
  }
  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a truth value"); }
  bool binary(nlohmann::json::binary_t&) override { return refuse("binary"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    fail("header is not valid JSON at byte {}", kLengthBytes + position);
  }

 private:
  enum class Place { Outside, Root, MetadataObject, TensorObject, ShapeArray, OffsetsArray };

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw DataError("{}: {}", where_, fmt::format(format, std::forward<Args>(args)...));
  }

  [[noreturn]] bool refuse(std::string_view found) const {
    if (place_ == Place::Outside) fail("header is {}, expected an object", found);
    if (place_ == Place::Root) fail("header: {} is {}, expected an object", shown(name_), found);
    if (place_ == Place::MetadataObject) fail("{}: {} is {}, expected text", kMetadataKey, shown(key_), found);
    fail("tensor {}: key {} with {} is not expected here or stands twice (a tensor has dtype, shape and data_offsets)",
         shown(name_), shown(key_), found);
  }

  bool enter(Place place) {
    if (place == Place::TensorObject) entry_ = {};
    return enter_kept(place);
  }
  bool enter_kept(Place place) {
    place_ = place;
    return true;
  }

  void finish_entry() {
    entry_.name = name_;
    if (entry_.dtype.empty()) fail("tensor {} has no dtype", shown(name_));
    if (!entry_.has_shape) fail("tensor {} has no shape", shown(name_));
    if (entry_.offsets.size() != 2) fail("tensor {} has no two data_offsets", shown(name_));
    entries_.push_back(std::move(entry_));
  }

  std::string_view where_;
  Place place_ = Place::Outside;
  std::string name_;
  std::string key_;
  Entry entry_;
  std::vector<Entry> entries_;
  Metadata metadata_;
  std::unordered_set<std::string> names_;
};

/// The header text, after the checks that need no parser.
std::string_view header_text(std::span<const std::byte> file, std::string_view where) {
  if (file.size() < kLengthBytes)
    throw DataError("{}: {} bytes, a safetensors file has at least {}", where, file.size(), kLengthBytes);
  std::uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kMaxHeaderBytes)
    throw DataError("{}: header length {} exceeds the {} bytes the format allows", where, length, kMaxHeaderBytes);
  if (length > file.size() - kLengthBytes)
    throw DataError("{}: truncated: header of {} bytes in a file of {}", where, length, file.size());
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  if (text.empty() || text[0] != '{') throw DataError("{}: header does not start with '{{'", where);
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos)
    throw DataError("{}: header is not UTF-8 at byte {}", where, kLengthBytes + bad);
  // The JSON parser takes a zero byte for the end of its input and would ignore what hides behind it.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw DataError("{}: header is not valid JSON at byte {}", where, kLengthBytes + zero + 1);
  return text;
}

/// Sorted by offset, each tensor must begin where the one before ended, and the last end where the file ends.
void check_layout(std::span<const Entry> entries, std::int64_t data_bytes, std::string_view where) {
  std::int64_t expected = 0;
  for (const Entry& entry : entries) {
    const std::int64_t begin = entry.offsets[0];
    const std::int64_t end = entry.offsets[1];
    if (begin > end) throw DataError("{}: tensor {} has data_offsets [{}, {}]", where, shown(entry.name), begin, end);
    const std::int64_t count = element_count(entry.shape);
    std::int64_t bytes = 0;
    if (count < 0 || __builtin_mul_overflow(count, dtype_size(entry.dtype), &bytes))
      throw DataError("{}: tensor {}: shape {} x {} overflows", where, shown(entry.name), shape_text(entry.shape),
                      entry.dtype);
    if (bytes != end - begin)
      throw DataError("{}: tensor {}: shape {} x {} is {} bytes, data_offsets [{}, {}] are {}", where,
                      shown(entry.name), shape_text(entry.shape), entry.dtype, bytes, begin, end, end - begin);
    if (begin != expected)
      throw DataError("{}: tensor {} begins at {}, the one before ends at {}: {}", where, shown(entry.name), begin,
                      expected, begin < expected ? "they overlap" : "a hole");
    expected = end;
  }
  if (expected != data_bytes)
    throw DataError("{}: tensors end at byte {} of the data, the file has {}: {}", where, expected, data_bytes,
                    expected > data_bytes ? "truncated" : "bytes too many");
}

}  // namespace

SafetensorsContents parse_safetensors(std::span<const std::byte> file, std::string_view where) {
  const std::string_view text = header_text(file, where);
  HeaderHandler handler(where);
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  std::vector<Entry> entries = handler.take_entries();
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
  const std::span<const std::byte> data = file.subspan(kLengthBytes + text.size());
  check_layout(entries, static_cast<std::int64_t>(data.size()), where);

  SafetensorsContents contents{.tensors = {}, .metadata = handler.take_metadata()};
  contents.tensors.reserve(entries.size());
  for (Entry& entry : entries) {
    const auto begin = static_cast<std::size_t>(entry.offsets[0]);
    const auto end = static_cast<std::size_t>(entry.offsets[1]);
    contents.tensors.push_back({.name = std::move(entry.name),
                                .dtype = std::move(entry.dtype),
                                .shape = std::move(entry.shape),
                                .bytes = data.subspan(begin, end - begin)});
  }
  return contents;
}

std::string make_safetensors_header(std::span<const TensorView* const> tensors, const Metadata& metadata) {
  std::vector<std::string> members;
  if (!metadata.empty()) members.push_back(fmt::format("\"{}\":{}", kMetadataKey, to_json_line(Json(metadata))));
  std::unordered_set<std::string> names;
  std::size_t offset = 0;
  for (const TensorView* tensor : tensors) {
    EFLOPS_CHECK(tensor->name != kMetadataKey && names.insert(tensor->name).second, "tensor name {}", tensor->name);
    const std::int64_t count = element_count(tensor->shape);
    EFLOPS_CHECK(dtype_size(tensor->dtype) > 0 && count >= 0 &&
                     static_cast<std::int64_t>(tensor->bytes.size()) == count * dtype_size(tensor->dtype),
                 "tensor {}: {} {} with {} bytes", tensor->name, tensor->dtype, shape_text(tensor->shape),
                 tensor->bytes.size());
    const std::size_t end = offset + tensor->bytes.size();
    members.push_back(fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                  to_json_line(tensor->name), tensor->dtype, fmt::join(tensor->shape, ","), offset,
                                  end));
    offset = end;
  }
  std::string text = fmt::format("{{{}}}", fmt::join(members, ","));
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  EFLOPS_CHECK(length <= kMaxHeaderBytes, "safetensors header of {} bytes", length);
  std::string header(kLengthBytes, '\0');
  std::memcpy(header.data(), &length, kLengthBytes);
  return header + text;
}

}  // namespace eflops::checkpoint

#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eflops {

/// How a field of an options struct is presented. Everything that knows options (flags, YAML, environment,
/// `--describe`,
/// `--dump-config`, the config hash) comes from one walk over these (DESIGN 5).
struct FieldNotes {
  std::string_view unit = "";                             ///< "tokens", "s", "per rank"; empty for a plain number
  double min = -std::numeric_limits<double>::infinity();  ///< smallest valid value, inclusive
  double max = std::numeric_limits<double>::infinity();   ///< largest valid value, inclusive
  std::vector<std::string_view> aliases = {};             ///< other flag names: those of well-known tools
  bool changes_result = true;                             ///< part of the config hash; false for paths and cadences
};

/// Specialise for an enum to make it an option: `static constexpr std::pair<E, std::string_view> kEntries[]`.
template <typename E>
struct Choices;

template <typename E>
concept Choice = requires {
  Choices<E>::kEntries;
};

/// The name of an enum value, as users write it.
template <Choice E>
std::string_view choice_name(E value) {
  for (const auto& [entry, name] : Choices<E>::kEntries)
    if (entry == value) return name;
  return "?";
}

/// A type-erased reference to an enum field.
class ChoiceField {
 public:
  virtual ~ChoiceField() = default;
  virtual std::vector<std::string_view> names() const = 0;
  virtual std::size_t index() const = 0;
  virtual void set_index(std::size_t index) = 0;
};

/// Visits every field of an options struct in declaration order. A struct declares itself once:
///   void visit_fields(OptionVisitor& v) { v("warmup_steps", warmup_steps, "steps of linear warm-up", {.min = 0}); }
class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;

  void operator()(std::string_view key, bool& value, std::string_view help, const FieldNotes& notes = {}) {
    visit(key, value, help, notes);
  }
  void operator()(std::string_view key, std::int64_t& value, std::string_view help, const FieldNotes& notes = {}) {
    visit(key, value, help, notes);
  }
  void operator()(std::string_view key, double& value, std::string_view help, const FieldNotes& notes = {}) {
    visit(key, value, help, notes);
  }
  void operator()(std::string_view key, std::string& value, std::string_view help, const FieldNotes& notes = {}) {
    visit(key, value, help, notes);
  }
  void operator()(std::string_view key, std::vector<std::string>& value, std::string_view help,
                  const FieldNotes& notes = {}) {
    visit(key, value, help, notes);
  }
  template <Choice E>
  void operator()(std::string_view key, E& value, std::string_view help, const FieldNotes& notes = {}) {
    Adapter<E> field(value);
    visit(key, static_cast<ChoiceField&>(field), help, notes);
  }

  /// Fields of a nested struct, under `key.`; `help` heads the group in --help and --describe.
  template <typename Options>
  void group(std::string_view key, Options& options, std::string_view help) {
    begin_group(key, help);
    options.visit_fields(*this);
    end_group();
  }

 protected:
  virtual void visit(std::string_view key, bool& value, std::string_view help, const FieldNotes& notes) = 0;
  virtual void visit(std::string_view key, std::int64_t& value, std::string_view help, const FieldNotes& notes) = 0;
  virtual void visit(std::string_view key, double& value, std::string_view help, const FieldNotes& notes) = 0;
  virtual void visit(std::string_view key, std::string& value, std::string_view help, const FieldNotes& notes) = 0;
  virtual void visit(std::string_view key, std::vector<std::string>& value, std::string_view help,
                     const FieldNotes& notes) = 0;
  virtual void visit(std::string_view key, ChoiceField& value, std::string_view help, const FieldNotes& notes) = 0;
  virtual void begin_group(std::string_view key, std::string_view help) = 0;
  virtual void end_group() = 0;

 private:
  template <Choice E>
  class Adapter : public ChoiceField {
   public:
    explicit Adapter(E& value) : value_(value) {}
    std::vector<std::string_view> names() const override {
      std::vector<std::string_view> all;
      for (const auto& entry : Choices<E>::kEntries) all.push_back(entry.second);
      return all;
    }
    std::size_t index() const override {
      std::size_t at = 0;
      for (const auto& entry : Choices<E>::kEntries) {
        if (entry.first == value_) return at;
        ++at;
      }
      return 0;
    }
    void set_index(std::size_t index) override { value_ = Choices<E>::kEntries[index].first; }

   private:
    E& value_;
  };
};

/// Anything with `visit_fields(OptionVisitor&)`, behind one pointer, so that the functions below are not templates.
class OptionSet {
 public:
  template <typename Options>
  requires requires(Options& options, OptionVisitor& visitor) { options.visit_fields(visitor); }
  explicit OptionSet(Options& options) : walk_([&options](OptionVisitor& v) { options.visit_fields(v); }) {}
  void walk(OptionVisitor& visitor) const { walk_(visitor); }

 private:
  std::function<void(OptionVisitor&)> walk_;
};

/// One field as the walk found it, its present value written out as YAML would.
struct FieldDescription {
  std::string path;  ///< "optimizer.learning_rate"
  std::string type;  ///< "bool", "integer", "number", "text", "list of text", "choice"
  std::string value;
  std::string unit;
  std::string help;
  std::string group_help;
  std::vector<std::string> choices;
  std::vector<std::string> aliases;
  double min = 0;
  double max = 0;
  bool changes_result = true;
};

/// Every field, in declaration order.
std::vector<FieldDescription> describe(const OptionSet& options);

/// A value for one field, wherever it came from. `source` is what an error names: "flag --lr", "run.yaml:12",
/// "environment EFLOPS_SEED".
struct Assignment {
  std::string path;
  std::vector<std::string> values;  ///< one for a scalar
  bool is_list = false;
  std::string source;
};

/// Sets one field. Throws ConfigError naming source, path, the bad value and what would be valid: an unknown path (with
/// the nearest known one), a mistyped, out-of-range or leading-zero number, an unknown choice. Paths may use '-' for
/// '_'.
void assign(const OptionSet& options, const Assignment& assignment);

/// Strict number reading shared by all sources: no leading zeros, no trailing text, range checked, units k, M, G
/// (powers of 1000) and Ki, Mi, Gi. Throws ConfigError that begins with `where`.
std::int64_t parse_integer(std::string_view text, std::string_view where);
double parse_number(std::string_view text, std::string_view where);

/// The whole struct as YAML; `source_of(path)` is written as a comment behind each value where it is not empty.
std::string dump_yaml(const OptionSet& options, const std::function<std::string(const std::string&)>& source_of);

/// 16 hex digits over the fields that change a result, canonical order and formatting.
std::string config_hash(const OptionSet& options);

/// The candidate nearest to `text` in edit distance if it is near enough to be meant, else "".
std::string nearest(std::string_view text, std::span<const std::string> candidates);

}  // namespace eflops

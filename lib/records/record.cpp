#include "records/record.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "records/fields.h"

namespace eflops::records {
namespace {

// What is wrong with the record, or "".
std::string contradiction(const Record& record) {
  const Outcome outcome = record.verification.outcome;
  if (record.status == Status::Complete && outcome != Outcome::Passed)
    return "status 'complete' needs a verification that passed";
  if (record.status == Status::Unverified && outcome != Outcome::None)
    return "status 'unverified' with a verification outcome";
  if (outcome == Outcome::Failed && record.status != Status::Failed)
    return "a verification that failed needs the status 'failed'";
  if (outcome != Outcome::None && record.verification.method.empty()) return "verification without a method";
  if (record.program.empty()) return "no program";
  if (record.date.empty()) return "no date";
  for (const Measurement& measurement : record.measurements) {
    if (measurement.name.empty()) return "a measurement without a name";
    if (measurement.samples.empty()) return "measurement '" + measurement.name + "' without samples";
  }
  return "";
}

template <Choice E>
E choice_from(const Fields& fields, const char* key) {
  const std::string text = fields.text(key);
  for (const auto& [value, name] : Choices<E>::kEntries)
    if (name == text) return value;
  fields.fail(key, fmt::format("'{}' is unknown", text));
}

Json fact_to_json(const Fact& fact) {
  return std::visit([](const auto& value) { return Json(value); }, fact.second);
}

Fact fact_from_json(const std::string& name, const Json& value, std::string_view where) {
  if (value.is_boolean()) return {name, value.get<bool>()};
  if (value.is_number_integer()) return {name, value.get<std::int64_t>()};
  if (value.is_number()) return {name, value.get<double>()};
  if (value.is_null()) return {name, std::numeric_limits<double>::quiet_NaN()};
  if (value.is_string()) return {name, value.get<std::string>()};
  throw DataError("{}: facts: {}: a plain value is expected", where, name);
}

Measurement measurement_from_json(const Json& object, const std::string& where) {
  const Fields fields(object, where);
  Measurement read{.name = fields.filled_text("name"), .unit = fields.text("unit"), .samples = {}};
  for (const Json& sample : fields.list("samples")) {
    if (!sample.is_number() && !sample.is_null()) fields.fail("samples", "numbers are expected");
    read.samples.push_back(sample.is_null() ? std::numeric_limits<double>::quiet_NaN() : sample.get<double>());
  }
  return read;
}

}  // namespace

void check(const Record& record) {
  const std::string problem = contradiction(record);
  EFLOPS_CHECK(problem.empty(), "record of '{}': {}", record.program, problem);
}

Json to_json(const Record& from) {
  Json measurements = Json::array();
  for (const Measurement& measurement : from.measurements)
    measurements.push_back(
        Json{{"name", measurement.name}, {"unit", measurement.unit}, {"samples", measurement.samples}});
  Json facts = Json::object();
  for (const Fact& fact : from.facts) facts[fact.first] = fact_to_json(fact);
  return Json{
      {"schema", kSchema},
      {"status", choice_name(from.status)},
      {"verification", {{"method", from.verification.method}, {"outcome", choice_name(from.verification.outcome)}}},
      {"program", from.program},
      {"experiment", from.experiment},
      {"config_hash", from.config_hash},
      {"command", from.command},
      {"date", from.date},
      {"seed", from.seed},
      {"measurements", std::move(measurements)},
      {"facts", std::move(facts)},
      {"provenance", to_json(from.provenance)}};
}

Record record_from_json(const Json& object, std::string_view where) {
  const Fields fields(object, where);
  if (const std::int64_t schema = fields.integer("schema"); schema != kSchema)
    fields.fail("schema", fmt::format("{} is not readable here; this build knows {}", schema, kSchema));
  const Fields verification(fields.object("verification"), fields.where() + ": verification");
  Record read{
      .status = choice_from<Status>(fields, "status"),
      .verification = {.method = verification.text("method"), .outcome = choice_from<Outcome>(verification, "outcome")},
      .program = fields.text("program"),
      .experiment = fields.text("experiment"),
      .config_hash = fields.text("config_hash"),
      .command = fields.text("command"),
      .date = fields.text("date"),
      .seed = fields.integer("seed"),
      .measurements = {},
      .facts = {},
      .provenance = provenance_from_json(fields.object("provenance"), fields.where() + ": provenance")};
  for (const Json& measurement : fields.list("measurements"))
    read.measurements.push_back(measurement_from_json(measurement, fields.where() + ": measurements"));
  for (const auto& [name, value] : fields.object("facts").items())
    read.facts.push_back(fact_from_json(name, value, where));
  if (const std::string problem = contradiction(read); !problem.empty()) throw DataError("{}: {}", where, problem);
  return read;
}

void append(const std::filesystem::path& file, const Record& record) {
  check(record);
  append_line(file, to_json_line(to_json(record)));
}

std::vector<Record> read_records(const std::filesystem::path& file) {
  std::vector<Record> records;
  for_each_line(file,
                [&](const Json& line, const std::string& where) { records.push_back(record_from_json(line, where)); });
  return records;
}

}  // namespace eflops::records

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "base/options.h"
#include "config/yaml_file.h"

// What dump_yaml writes is read back by our reader and by libyaml, an independent one.
namespace eflops::config {
namespace {

struct Inner {
  std::string text = "it's \"quoted\": #1\n\ttab";
  std::vector<std::string> list{"a", "", "b, c", "[MASK]", "true", "- x"};
  void visit_fields(OptionVisitor& v) {
    v("text", text, "text");
    v("list", list, "list");
  }
};

struct Sample {
  bool flag = true;
  std::int64_t integer = -3;
  double number = 1e-5;
  std::string empty;
  std::vector<std::string> none;
  Inner inner;
  std::string last = "no";
  void visit_fields(OptionVisitor& v) {
    v("flag", flag, "flag");
    v("integer", integer, "integer");
    v("number", number, "number");
    v("empty", empty, "empty");
    v("none", none, "none");
    v.group("inner", inner, "inner");
    v("last", last, "last");
  }
};

std::string dump_of_sample() {
  Sample sample;
  return dump_yaml(OptionSet(sample), [](const std::string&) { return std::string("default"); });
}

TEST(DumpYaml, IsReadBackToEqualValues) {
  Sample read{.flag = false, .integer = 0, .number = 0, .empty = "x", .none = {"x"}, .inner = {.text = "", .list = {}}};
  read.last = "";
  for (const Assignment& assignment : parse_yaml(dump_of_sample(), "dump").assignments)
    assign(OptionSet(read), assignment);
  const Sample sample;
  EXPECT_EQ(read.flag, sample.flag);
  EXPECT_EQ(read.integer, sample.integer);
  EXPECT_EQ(read.number, sample.number);
  EXPECT_EQ(read.empty, sample.empty);
  EXPECT_EQ(read.none, sample.none);
  EXPECT_EQ(read.inner.text, sample.inner.text);
  EXPECT_EQ(read.inner.list, sample.inner.list);
  EXPECT_EQ(read.last, sample.last);
}

std::string scalar(yaml_document_t& document, int node) {
  const yaml_node_t* found = yaml_document_get_node(&document, node);
  return {reinterpret_cast<const char*>(found->data.scalar.value), found->data.scalar.length};
}

TEST(DumpYaml, IsReadBackByLibyaml) {
  const std::string text = dump_of_sample();
  yaml_parser_t parser;
  ASSERT_EQ(yaml_parser_initialize(&parser), 1);
  yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  yaml_document_t document;
  ASSERT_EQ(yaml_parser_load(&parser, &document), 1);
  std::map<std::string, std::string> values;
  std::vector<std::string> list;
  const yaml_node_t* root = yaml_document_get_root_node(&document);
  for (const yaml_node_pair_t* pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top; ++pair) {
    const yaml_node_t* value = yaml_document_get_node(&document, pair->value);
    if (value->type == YAML_SCALAR_NODE) values[scalar(document, pair->key)] = scalar(document, pair->value);
    if (value->type != YAML_MAPPING_NODE) continue;
    for (const yaml_node_pair_t* in = value->data.mapping.pairs.start; in < value->data.mapping.pairs.top; ++in) {
      const yaml_node_t* inner = yaml_document_get_node(&document, in->value);
      if (inner->type == YAML_SCALAR_NODE) values[scalar(document, in->key)] = scalar(document, in->value);
      if (inner->type != YAML_SEQUENCE_NODE) continue;
      for (const yaml_node_item_t* item = inner->data.sequence.items.start; item < inner->data.sequence.items.top;
           ++item)
        list.push_back(scalar(document, *item));
    }
  }
  yaml_document_delete(&document);
  yaml_parser_delete(&parser);
  const Sample sample;
  EXPECT_EQ(values["flag"], "true");
  EXPECT_EQ(values["integer"], "-3");
  EXPECT_EQ(std::strtod(values["number"].c_str(), nullptr), sample.number);
  EXPECT_EQ(values["empty"], "");
  EXPECT_EQ(values["text"], sample.inner.text);
  EXPECT_EQ(values["last"], "no");
  EXPECT_EQ(list, sample.inner.list);
}

}  // namespace
}  // namespace eflops::config

#include "records/provenance.h"

#include <nlohmann/json.hpp>

#include "records/fields.h"

namespace eflops::records {

Json to_json(const Provenance& from) {
  Json libraries = Json::object();
  for (const auto& [name, version] : from.libraries) libraries[name] = version;
  return Json{{"version", from.version},
              {"git_commit", from.git_commit},
              {"git_dirty", from.git_dirty},
              {"host", from.host},
              {"kernel", from.kernel},
              {"cpu", from.cpu},
              {"cores", from.cores},
              {"memory_gib", from.memory_gib},
              {"load", from.load},
              {"compiler", from.compiler},
              {"flags", from.flags},
              {"build_type", from.build_type},
              {"libraries", std::move(libraries)},
              {"ranks", from.ranks},
              {"threads", from.threads},
              {"placement", from.placement}};
}

Provenance provenance_from_json(const Json& object, std::string_view where) {
  const Fields fields(object, where);
  Provenance read{.version = fields.text("version"),
                  .git_commit = fields.filled_text("git_commit"),
                  .git_dirty = fields.truth("git_dirty"),
                  .host = fields.filled_text("host"),
                  .kernel = fields.text("kernel"),
                  .cpu = fields.text("cpu"),
                  .cores = fields.integer("cores"),
                  .memory_gib = fields.number("memory_gib"),
                  .load = fields.number("load"),
                  .compiler = fields.text("compiler"),
                  .flags = fields.text("flags"),
                  .build_type = fields.text("build_type"),
                  .libraries = {},
                  .ranks = fields.integer("ranks"),
                  .threads = fields.integer("threads"),
                  .placement = fields.text("placement")};
  const Fields libraries(fields.object("libraries"), fields.where() + ": libraries");
  for (const auto& [name, version] : fields.object("libraries").items())
    read.libraries.emplace_back(name, libraries.text(name.c_str()));
  if (read.ranks < 0) fields.fail("ranks", "at least 0 is expected");
  if (read.threads < 1) fields.fail("threads", "at least 1 is expected");
  return read;
}

}  // namespace eflops::records

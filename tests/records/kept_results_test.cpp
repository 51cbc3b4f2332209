#include <gtest/gtest.h>

#include <filesystem>

#include "records/peer_record.h"
#include "records/record.h"

namespace eflops::records {
namespace {

namespace fs = std::filesystem;

/// Calls `read(file)` for every JSON-lines file below results/ that is (or is not) a comparison with peers.
template <typename Read>
void for_each_kept(bool of_peers, Read read) {
  const fs::path results = fs::path(EFLOPS_SOURCE_DIR) / "results";
  ASSERT_TRUE(fs::is_directory(results)) << results;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(results))
    if (entry.path().extension() == ".jsonl" && (entry.path().parent_path().filename() == "peers") == of_peers)
      read(entry.path());
}

// What is kept must stay readable by the programs of today, or be migrated in the change that breaks it.
TEST(KeptResults, EveryComparisonIsAReadablePeerRecord) {
  for_each_kept(true, [](const fs::path& file) {
    for (const PeerRecord& record : read_peer_records(file)) {
      EXPECT_GE(record.launches, 5) << file;
      EXPECT_EQ(record.provenance.git_commit.size(), 40U) << file;
    }
  });
}

TEST(KeptResults, EveryOtherLineIsAReadableRecordOfACleanTree) {
  for_each_kept(false, [](const fs::path& file) {
    for (const Record& record : read_records(file)) {
      EXPECT_EQ(record.provenance.git_commit.size(), 40U) << file;
      EXPECT_FALSE(record.provenance.git_dirty) << file << ": " << record.experiment;
    }
  });
}

}  // namespace
}  // namespace eflops::records

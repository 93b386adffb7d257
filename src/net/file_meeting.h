#pragma once

#include "net/job_key.h"
#include "net/meeting.h"
#include "storage/file_system.h"

#include <set>

namespace cohort::net {

/// A meeting in a directory that all hosts share: each rank writes its card to a file with a MAC, and removes
/// the file once the next round is complete, or in the destructor. Postings stay until the destructor.
///
/// Threads: one at a time.
/// Failure: kTimedOut names the missing ranks. A file without the right MAC is ignored.
/// Cost: polls the directory every 1 to 50 ms.
class FileMeeting final : public MeetingWithBoard {
 public:
  FileMeeting(const JobKey& key, FileSystem& files, std::string directory);
  ~FileMeeting() override;

  Result<std::vector<std::string>> gather(const Round& round, const std::string& card) override;
  Result<std::vector<Posting>> post(const Round& board, const std::string& card) override;

 private:
  std::string path_of(const std::string& round, int rank) const;
  bool read_card(const Round& round, int rank, std::string& into);
  Status write_card(const Round& round, const std::string& card);
  void remove_old();

  const JobKey key_;
  FileSystem& files_;
  const std::string directory_;
  std::vector<std::string> left_;   // paths of own files, the latest round last
  std::set<std::string> postings_;  // paths of own postings, which stay until the end
};

}  // namespace cohort::net

#pragma once

#include "net/job_key.h"
#include "net/meeting.h"
#include "storage/file_system.h"

namespace cohort::net {

/// A meeting in a directory that all hosts see: each rank leaves a signed file, and takes its own away when
/// the next round has begun, or at the end.
///
/// Threads, Failure: as every meeting. A file that is not signed with the key of the job is not there.
/// Cost: looks every few milliseconds.
class FileMeeting final : public Meeting {
 public:
  FileMeeting(const JobKey& key, FileSystem& files, std::string directory);
  ~FileMeeting() override;

  Result<std::vector<std::string>> gather(const Round& round, const std::string& card) override;

 private:
  std::string path_of(const std::string& round, int rank) const;
  bool read_card(const Round& round, int rank, std::string& into);
  void remove_old();

  const JobKey key_;
  FileSystem& files_;
  const std::string directory_;
  std::vector<std::string> left_;  // files of ours, the last one in use
};

}  // namespace cohort::net

#pragma once

#include <sys/types.h>
#include <unistd.h>

namespace cohort {

/// The process that made an object.
///
/// A child made by fork() has a copy of every object but none of their threads. There, a destructor that
/// joins a thread, or destroys a condition variable that a thread waited on, never returns; and a farewell
/// that it sends would be taken for one of the parent. A child therefore leaves such objects as they are: the
/// kernel takes their memory back when the child ends.
///
/// Threads: a value.
/// Cost: one system call.
class HomeProcess {
 public:
  bool is_here() const { return ::getpid() == process_; }

 private:
  pid_t process_ = ::getpid();
};

/// The deleter of an object that has threads: deletes it only in the process that made it.
struct DeleteAtHome {
  HomeProcess home{};

  template <class T>
  void operator()(T* object) const {
    if (home.is_here()) delete object;
  }
};

}  // namespace cohort

// The exported table of a shim: functions over one mpi.h.

#include "mpi/shim/handles.h"

#include <algorithm>
#include <string>
#include <vector>

namespace cohort::mpi::shim {
namespace {

int return_errors(MPI_Comm comm) {
  return MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

int init(int* is_ours, int* is_threaded) {
  int is_initialized = 0;
  int level = MPI_THREAD_SINGLE;
  MPI_Initialized(&is_initialized);
  *is_ours = is_initialized ? 0 : 1;
  const int code = is_initialized ? MPI_Query_thread(&level)
                                  : MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  *is_threaded = level >= MPI_THREAD_MULTIPLE ? 1 : 0;
  if (code != MPI_SUCCESS) return code;
  return_errors(MPI_COMM_SELF);
  return_errors(MPI_COMM_WORLD);
  return make_reductions();
}

int finalize() {
  return MPI_Finalize();
}

int abort_job(int exit_code) {
  return MPI_Abort(MPI_COMM_WORLD, exit_code);
}

int copy_text(const char* from, int length, char* text, int size) {
  const int count = std::min(length, size - 1);
  std::copy(from, from + count, text);
  text[count] = '\0';
  return MPI_SUCCESS;
}

int library_text(char* text, int size) {
  std::vector<char> room(MPI_MAX_LIBRARY_VERSION_STRING + 1);
  int length = 0;
  const int code = MPI_Get_library_version(room.data(), &length);
  return code != MPI_SUCCESS ? code : copy_text(room.data(), length, text, size);
}

void error_text(int code, char* text, int size) {
  std::vector<char> room(MPI_MAX_ERROR_STRING + 1);
  int length = 0;
  MPI_Error_string(code, room.data(), &length);
  copy_text(room.data(), length, text, size);
}

int tag_limit(int* largest) {
  int* value = nullptr;
  int is_set = 0;
  const int code = MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &is_set);
  *largest = is_set ? *value : 32767;
  return code;
}

CohortMpiHandle world() {
  return wrapped(MPI_COMM_WORLD);
}

int rank_of(CohortMpiHandle comm, int* rank) {
  return MPI_Comm_rank(comm_of(comm), rank);
}

int size_of(CohortMpiHandle comm, int* size) {
  return MPI_Comm_size(comm_of(comm), size);
}

int world_ranks(CohortMpiHandle comm, int* ranks) {
  MPI_Group part = MPI_GROUP_NULL;
  MPI_Group all = MPI_GROUP_NULL;
  int size = 0;
  MPI_Comm_group(comm_of(comm), &part);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_size(part, &size);
  std::vector<int> own(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  const int code = MPI_Group_translate_ranks(part, size, own.data(), all, ranks);
  MPI_Group_free(&part);
  MPI_Group_free(&all);
  return code;
}

int duplicate(CohortMpiHandle comm, CohortMpiHandle* copy) {
  MPI_Comm made = MPI_COMM_NULL;
  const int code = MPI_Comm_dup(comm_of(comm), &made);
  *copy = wrapped(made);
  return code != MPI_SUCCESS ? code : return_errors(made);
}

int split(CohortMpiHandle comm, int colour, int key, CohortMpiHandle* part) {
  MPI_Comm made = MPI_COMM_NULL;
  const int code =
      MPI_Comm_split(comm_of(comm), colour == COHORT_MPI_NO_COLOUR ? MPI_UNDEFINED : colour, key, &made);
  *part = made == MPI_COMM_NULL ? 0 : wrapped(made);
  if (code != MPI_SUCCESS || made == MPI_COMM_NULL) return code;
  return return_errors(made);
}

int release(CohortMpiHandle comm) {
  MPI_Comm released = comm_of(comm);
  return MPI_Comm_free(&released);
}

int send(CohortMpiHandle comm, const void* bytes, int size, int to, int tag, CohortMpiHandle* request) {
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = MPI_Isend(bytes, size, MPI_BYTE, to, tag, comm_of(comm), &started);
  *request = wrapped(started);
  return code;
}

int receive(CohortMpiHandle comm, void* bytes, int size, int from, int tag, CohortMpiHandle* request) {
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = MPI_Irecv(bytes, size, MPI_BYTE, from, tag, comm_of(comm), &started);
  *request = wrapped(started);
  return code;
}

int probe(CohortMpiHandle comm, int tag, int* from, int* size, int* is_there) {
  MPI_Status status;
  const int source = *from == COHORT_MPI_ANY_SOURCE ? MPI_ANY_SOURCE : *from;
  *is_there = 0;
  const int code = MPI_Iprobe(source, tag, comm_of(comm), is_there, &status);
  if (code != MPI_SUCCESS || !*is_there) return code;
  *from = status.MPI_SOURCE;
  return MPI_Get_count(&status, MPI_BYTE, size);
}

int test(CohortMpiHandle* request, int* is_done) {
  auto tested = unwrapped<MPI_Request>(*request);
  const int code = MPI_Test(&tested, is_done, MPI_STATUS_IGNORE);
  *request = wrapped(tested);
  return code;
}

int drain(CohortMpiHandle comm) {
  std::vector<char> room;
  while (true) {
    MPI_Status status;
    int is_there = 0;
    int size = 0;
    int code = MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_of(comm), &is_there, &status);
    if (code != MPI_SUCCESS || !is_there) return code;
    code = MPI_Get_count(&status, MPI_BYTE, &size);
    if (code != MPI_SUCCESS) return code;
    room.resize(static_cast<std::size_t>(size));
    code = MPI_Recv(room.data(), size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm_of(comm),
                    MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
  }
}

#if defined(OPEN_MPI)
std::string compiled_for() {
  return "Open MPI " + std::to_string(OMPI_MAJOR_VERSION) + "." + std::to_string(OMPI_MINOR_VERSION);
}
#else
std::string compiled_for() {
  return std::string("MPICH ") + MPICH_VERSION;
}
#endif

}  // namespace
}  // namespace cohort::mpi::shim

extern "C" __attribute__((visibility("default"))) const CohortMpiShim* cohort_mpi_shim(void) {
  using namespace cohort::mpi::shim;
  static const std::string name = compiled_for();
  static const CohortMpiShim shim = {
      .version = COHORT_MPI_SHIM_VERSION,
      .compiled_for = name.c_str(),
      .init = &init,
      .finalize = &finalize,
      .abort = &abort_job,
      .library_text = &library_text,
      .tag_limit = &tag_limit,
      .world = &world,
      .rank = &rank_of,
      .size = &size_of,
      .world_ranks = &world_ranks,
      .duplicate = &duplicate,
      .split = &split,
      .release = &release,
      .start = &start_collective,
      .run = &run_collective,
      .send = &send,
      .receive = &receive,
      .probe = &probe,
      .test = &test,
      .drain = &drain,
      .error_kind = &error_kind,
      .error_text = &error_text,
      .can_recover = &can_recover,
      .revoke = &revoke,
      .begin_agreement = &begin_agreement,
      .shrink = &shrink,
      .lost_ranks = &lost_ranks,
  };
  return &shim;
}

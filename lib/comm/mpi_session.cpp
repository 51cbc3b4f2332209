#include "comm/mpi_session.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/error.h"
#include "comm/mpi_check.h"
#include "comm/mpi_transport.h"

namespace eflops::comm {

std::string mpi_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return fmt::format("error {}", code);
  return {text.data(), static_cast<std::size_t>(length)};
}

void check_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) throw CommError("{}: {}", call, mpi_text(code));
}

int promised_ranks(std::string& source) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    int ranks = 0;
    const auto [end, error] = std::from_chars(value, value + std::strlen(value), ranks);
    if (error != std::errc() || *end != '\0' || ranks < 1) continue;
    source = name;
    return ranks;
  }
  return 0;
}

MpiSession::MpiSession() {
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  std::string source;
  const int promised = promised_ranks(source);
  if (size_ == 1 && promised > 1) {
    MPI_Finalize();
    throw CommError(
        "this process runs alone although {}={}: it was started by the launcher of another MPI library; start it with "
        "the mpirun of {}",
        source, promised, library());
  }
}

MpiSession::~MpiSession() { MPI_Finalize(); }

std::string MpiSession::library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string whole(text.data(), static_cast<std::size_t>(length));
  return whole.substr(0, whole.find(','));
}

namespace {

/// The first `ranks` ranks of the world; MPI_COMM_NULL on the others.
MPI_Comm first_ranks(int ranks, int rank, int size) {
  EFLOPS_CHECK(ranks >= 1 && ranks <= size, "{} ranks of {}", ranks, size);
  MPI_Comm group = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &group), "MPI_Comm_split");
  return group;
}

class MpiBootstrap final : public Bootstrap {
 public:
  explicit MpiBootstrap(MPI_Comm communicator) : communicator_(communicator) {
    check_mpi(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
  }
  ~MpiBootstrap() override { MPI_Comm_free(&communicator_); }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<std::string> all_gather(const std::string& mine, Deadline deadline) override {
    const auto count = static_cast<std::size_t>(size_);
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(count);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, communicator_, &request),
              "MPI_Iallgather");
    wait(request, deadline);
    std::vector<int> begins(count, 0);
    for (std::size_t i = 1; i < count; ++i) begins[i] = begins[i - 1] + lengths[i - 1];
    std::string all(static_cast<std::size_t>(begins.back() + lengths.back()), '\0');
    check_mpi(MPI_Iallgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR,
                              communicator_, &request),
              "MPI_Iallgatherv");
    wait(request, deadline);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) {
      texts.push_back(all.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(lengths[i])));
    }
    return texts;
  }

 private:
  void wait(MPI_Request& request, Deadline deadline) const {
    for (int done = 0; done == 0;) {
      check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      if (done != 0) return;
      if (std::chrono::steady_clock::now() > deadline) {
        throw TimeoutError("rank {} waited in vain for the addresses of the others", rank_);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  MPI_Comm communicator_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace

std::unique_ptr<Transport> MpiSession::transport(int ranks) {
  MPI_Comm group = first_ranks(ranks, rank_, size_);
  return group == MPI_COMM_NULL ? nullptr : make_mpi_transport(group);
}

std::unique_ptr<Bootstrap> MpiSession::bootstrap(int ranks) {
  MPI_Comm group = first_ranks(ranks, rank_, size_);
  return group == MPI_COMM_NULL ? nullptr : std::make_unique<MpiBootstrap>(group);
}

void MpiSession::abort(int status, const std::string& reason) {
  std::fprintf(stderr, "rank %d: %s\n", rank_, reason.c_str());
  std::fflush(stderr);
  std::this_thread::sleep_for(rank_ == 0 ? std::chrono::milliseconds(300) : std::chrono::milliseconds(1500));
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace eflops::comm

#include "comm/inproc_bootstrap.h"
#include "comm/inproc_transport.h"
#include "comm/shm_transport.h"
#include "comm/tcp_transport.h"
#include "tests/comm/transport_cases.h"

namespace eflops::comm::test {

std::vector<TransportCase> transport_cases() {
  const auto through = [](const TransportMaker& make) {
    return [make](int ranks, const std::function<void(Transport&)>& body) { run_threads(ranks, make, body); };
  };
  return {
      {"inproc", run_inproc},
      {"shm", through([](Bootstrap& bootstrap) { return make_shm_transport(bootstrap); })},
      {"shm_staged", through([](Bootstrap& bootstrap) { return make_shm_transport(bootstrap, Unregistered::Staged); })},
      {"tcp", through([](Bootstrap& bootstrap) { return make_tcp_transport(bootstrap); })},
      {"tcp_3_streams", through([](Bootstrap& bootstrap) { return make_tcp_transport(bootstrap, {.streams = 3}); })}};
}

}  // namespace eflops::comm::test

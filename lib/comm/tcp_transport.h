#pragma once

#include <memory>

#include "comm/tcp_connect.h"

namespace eflops::comm {

/// A transport over own TCP sockets, several for each two ranks if asked: messages are cut into pieces of 128 KiB that
/// travel on the streams in turn. What is to be reduced is reduced while the next piece arrives. Errors as connect_all.
std::unique_ptr<Transport> make_tcp_transport(Bootstrap& bootstrap, const TcpOptions& options = {});

}  // namespace eflops::comm

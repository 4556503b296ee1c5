// The exit codes of the program; scripts rely on them.
#pragma once

#include "kith/error.hpp"

namespace kith::cli {

inline constexpr int kOk = 0;
inline constexpr int kInternal = 1;
inline constexpr int kUsage = 2;
inline constexpr int kBadData = 3;
inline constexpr int kMemory = 4;
inline constexpr int kNoDevice = 5;
inline constexpr int kCannotWrite = 6;
inline constexpr int kInterrupted = 130;

constexpr int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return kUsage;
    case ErrorCode::bad_data: return kBadData;
    case ErrorCode::out_of_memory: return kMemory;
    case ErrorCode::no_device: return kNoDevice;
    case ErrorCode::cannot_write: return kCannotWrite;
    case ErrorCode::cancelled: return kInterrupted;
    case ErrorCode::internal: return kInternal;
  }
  return kInternal;
}

}  // namespace kith::cli

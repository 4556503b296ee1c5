#include "support/fails_with.hpp"

namespace kith::test {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

AssertionResult fails_with(ErrorCode code, const std::vector<std::string>& mentions,
                           const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (error.code() != code) {
      return AssertionFailure() << "expected " << to_string(code) << ", got " << to_string(error.code()) << ": "
                                << message;
    }
    for (const std::string& part : mentions) {
      if (message.find(part) == std::string::npos) {
        return AssertionFailure() << "the message does not mention \"" << part << "\": " << message;
      }
    }
    return AssertionSuccess();
  } catch (const std::exception& error) {
    return AssertionFailure() << "expected kith::Error, got another exception: " << error.what();
  }
  return AssertionFailure() << "expected the error " << to_string(code) << ", but nothing was thrown";
}

}  // namespace kith::test

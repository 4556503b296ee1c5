#include "cli/app.hpp"

int main(int argc, char** argv) {
  return kith::cli::run_program(argc, argv);
}

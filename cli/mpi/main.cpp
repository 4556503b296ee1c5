// kith-mpi: searches by several ranks. All ranks end with the same exit code, and rank 0 says why.

#include <mpi.h>

#include <CLI/CLI.hpp>

#include <exception>
#include <string>

#include "cli/context.hpp"
#include "cli/exit_codes.hpp"
#include "cli/message.hpp"
#include "cli/mpi/commands.hpp"
#include "cli/mpi/ranks.hpp"
#include "cli/signals.hpp"
#include "cli/stdout.hpp"
#include "kith/error.hpp"
#include "kith/version.hpp"

namespace kith::cli {
namespace {

constexpr const char* kFooter =
    "Start it with mpirun: mpirun -n 4 kith-mpi search --base base.fbin --queries queries.fbin -k 10 -o out.npz\n"
    "Each rank reads its part of the files; answers are those of kith. Exit codes are those of kith too.";

// What is said is said once; what ranks say differently before they have agreed is not said at all.
int report(const Error& problem) {
  if (my_rank() == 0) {
    if (problem.code() == ErrorCode::cancelled) {
      note("interrupted");
    } else {
      error(problem.code() == ErrorCode::internal ? std::string("internal error: ") + problem.what() : problem.what());
    }
  }
  return exit_code(problem.code());
}

int report_usage(const CLI::App& app, const CLI::ParseError& problem) {
  if (my_rank() == 0) {
    if (problem.get_exit_code() != kOk) {
      error(problem.what());
      print_to_stderr("Try 'kith-mpi --help'.\n");
    } else {
      const bool version_asked = dynamic_cast<const CLI::CallForVersion*>(&problem) != nullptr;
      write_stdout(version_asked ? std::string(problem.what()) + "\n" : app.help());
      flush_stdout();
    }
  }
  return problem.get_exit_code() == kOk ? kOk : kUsage;
}

int parse_and_run(int argc, const char* const* argv) {
  Context context;
  CLI::App app("k-nearest-neighbor search by several processes: exact, with the ids and bits of one", "kith-mpi");
  context.app = &app;
  app.set_version_flag("--version", std::string("kith-mpi ") + version(), "Print the version and exit");
  app.get_formatter()->column_width(34);
  app.require_subcommand(1);
  add_mpi_search(app, context);
  add_mpi_graph(app, context);
  add_mpi_radius(app, context);
  add_mpi_explain(app, context);
  app.footer(kFooter);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return report_usage(app, problem);
  }
  context.run();
  flush_stdout();
  return kOk;
}

int run_program(int argc, const char* const* argv) {
  install_signal_handlers();
  try {
    return parse_and_run(argc, argv);
  } catch (const Error& problem) {
    return report(problem);
  } catch (const std::exception& problem) {
    // Of this rank alone: the others wait for it, until the launcher ends them.
    error(std::string("internal error: ") + problem.what());
    MPI_Abort(MPI_COMM_WORLD, kInternal);
    return kInternal;
  }
}

}  // namespace
}  // namespace kith::cli

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  const int code = kith::cli::run_program(argc, argv);
  MPI_Finalize();
  return code;
}

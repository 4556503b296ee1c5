#include "cli/search_input.hpp"

#include "cli/points.hpp"

namespace kith::cli {

io::Array SearchInput::load_base() const {
  return load_points("base", base, files.load_options(base_array, kBaseArrays));
}

io::Array SearchInput::load_queries() const {
  io::LoadOptions options = files.load_options(queries_array, kQueriesArrays);
  if (queries_format != "auto") options.format = io::parse_format(queries_format);
  return load_points("queries", queries, options);
}

void add_base(CLI::App& command, std::string& base, std::string& base_array) {
  add_file(command, "--base", base, "The points to search; - reads stdin")->required()->group("Input");
  command
      .add_option("--base-array", base_array, "Its name in an npz or hdf5 file; default: base, train or the only one")
      ->type_name("NAME")
      ->group("Input");
}

void add_search_input(CLI::App& command, Context& context, SearchInput& input) {
  add_base(command, input.base, input.base_array);
  add_file(command, "--queries", input.queries, "The points to find neighbors of; - reads stdin")
      ->required()
      ->group("Input");
  command
      .add_option("--queries-array", input.queries_array,
                  "Its name in an npz or hdf5 file; default: queries, test or the only one")
      ->type_name("NAME")
      ->group("Input");
  add_input_options(command, context, input.files);
  add_format(command, context, "--queries-format", input.queries_format,
             "Format of the queries when it is another one");
}

}  // namespace kith::cli

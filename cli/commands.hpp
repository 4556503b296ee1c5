// The commands: each adds itself to the tree.
#pragma once

#include "cli/context.hpp"

namespace kith::cli {

void add_search(CLI::App& app, Context& context);
void add_radius(CLI::App& app, Context& context);
void add_graph(CLI::App& app, Context& context);
void add_reduce(CLI::App& app, Context& context);
void add_index(CLI::App& app, Context& context);
void add_topk(CLI::App& app, Context& context);
void add_explain(CLI::App& app, Context& context);
void add_tune(CLI::App& app, Context& context);
void add_info(CLI::App& app, Context& context);
void add_gen(CLI::App& app, Context& context);
void add_eval(CLI::App& app, Context& context);
void add_convert(CLI::App& app, Context& context);
void add_demo(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);

}  // namespace kith::cli

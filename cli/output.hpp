// Where an answer goes: checked before the work starts, written whole after it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "kith/io.hpp"

namespace kith::cli {

// What an answer consists of, which decides the formats that can hold it.
enum class Shape {
  array,  // one array
  table,  // several arrays with equal row counts
  named,  // several arrays of any lengths
};

// Refuses what could only fail later: a format that cannot be told or cannot hold the answer (invalid_argument), a
// folder that is missing or not writable (cannot_write), and --json beside data on stdout.
void check_output(const std::string& path, const std::string& format, Shape shape);
void check_output(const OutputSettings& settings, Shape shape, const Context& context);

// What a command has to give, and where it goes. Only the forms that are asked for are made.
struct Answer {
  Json json;                               // the object that --json prints
  std::function<void(Json&)> add_to_json;  // puts the data itself into it
  std::function<void()> print_text;        // the data for people, on stdout
  bool as_text = false;                    // the data goes to stdout as text or, with --json, inside the object
  std::vector<io::Output> outputs;         // files, or stdout as "-" with a format
};

// Writes the files first, then stdout.
void deliver(Answer& answer, const Context& context);

// An answer that is a single array, called `name`; as text it is csv.
void deliver_array(Answer& answer, const std::string& name, const io::Array& array, const OutputSettings& settings,
                   const Context& context);

}  // namespace kith::cli
